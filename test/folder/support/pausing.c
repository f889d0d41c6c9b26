// A library to preload into a server: stops the calling thread at one system call between the creation of a temp file
// and the release of the lock, until the test lets it go on; and shifts its clock by CLOCK_OFFSET seconds. PAUSING names
// a file of five ints, described below.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// At which call to stop, counted from the creation of the temp file (0: never); calls counted so far (-1: no temp file
// yet); 1 while it is stopped; 1 to let it go on; which call it was stopped at, as below.
enum { STOP_AT, COUNTED, STOPPED, GO, CALL, INTS };
static volatile int32_t *control;
static time_t offset;

enum { OPEN = 1, WRITE, CHMOD, SYNC, CLOSE, ACCESS, READLINK, STAT, RENAME, LINK, UNLINK, RMDIR, MKDIR };

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start (void) {
  const char *path = getenv("PAUSING"), *seconds = getenv("CLOCK_OFFSET");
  offset = seconds ? atoi(seconds) : 0;
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, INTS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

static int is_temp (const char *path) {
  size_t length = strlen(path);
  return length > 30 && !strcmp(path + length - 4, ".tmp") && !strncmp(path + length - 30, "/.", 2);
}

static void call (int which) {
  if (!control || control[STOP_AT] == 0 || control[COUNTED] < 0) return;
  if (__sync_add_and_fetch(&control[COUNTED], 1) != control[STOP_AT]) return;
  control[CALL] = which;
  control[STOPPED] = 1;
  while (!control[GO]) usleep(1000);
  control[STOPPED] = control[GO] = 0;
}

static void opened (const char *path, int flags) {
  if (control && control[STOP_AT] > 0 && control[COUNTED] < 0 && (flags & O_CREAT) && is_temp(path)) {
    control[COUNTED] = 0;
  }
  call(OPEN);
}

int open64 (const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  opened(path, flags);
  return REAL(open64)(path, flags, mode);
}
int open (const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  opened(path, flags);
  return REAL(open)(path, flags, mode);
}

ssize_t pwritev64 (int fd, const struct iovec *pieces, int count, off64_t at) {
  call(WRITE);
  return REAL(pwritev64)(fd, pieces, count, at);
}
ssize_t pwrite64 (int fd, const void *bytes, size_t size, off64_t at) {
  call(WRITE);
  return REAL(pwrite64)(fd, bytes, size, at);
}
int fchmod (int fd, mode_t mode) { call(CHMOD); return REAL(fchmod)(fd, mode); }
int fsync (int fd) { call(SYNC); return REAL(fsync)(fd); }
int fdatasync (int fd) { call(SYNC); return REAL(fdatasync)(fd); }
int access (const char *path, int mode) { call(ACCESS); return REAL(access)(path, mode); }
ssize_t readlink (const char *path, char *into, size_t size) {
  call(READLINK);
  return REAL(readlink)(path, into, size);
}
int rename (const char *from, const char *to) { call(RENAME); return REAL(rename)(from, to); }
int link (const char *from, const char *to) { call(LINK); return REAL(link)(from, to); }
int unlink (const char *path) { call(UNLINK); return REAL(unlink)(path); }
int rmdir (const char *path) { call(RMDIR); return REAL(rmdir)(path); }
int mkdir (const char *path, mode_t mode) { call(MKDIR); return REAL(mkdir)(path, mode); }
int close (int fd) { call(CLOSE); return REAL(close)(fd); }

// libuv calls statx this way.
long syscall (long number, ...) {
  long values[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) values[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_statx) call(STAT);
  return REAL(syscall)(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

int clock_gettime (clockid_t clock, struct timespec *now) {
  int result = REAL(clock_gettime)(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset;
  return result;
}
int gettimeofday (struct timeval *now, void *zone) {
  int result = REAL(gettimeofday)(now, zone);
  if (result == 0) now->tv_sec += offset;
  return result;
}
