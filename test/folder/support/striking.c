// A library to preload: makes one system call on files fail, or kills the process at it, or holds it up there.
// STRIKING names a file of five ints, described below.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

// How many calls from now (0: none); 1 when it was reached; what happens: an error number, -9 for SIGKILL, 0 to wait;
// 1 to let it go on; which call it was, as below.
enum { COUNT, REACHED, WHAT, GO, CALL, INTS };
static volatile int32_t *control;

enum { OPEN = 1, WRITE, SYNC, LINK, RENAME, UNLINK, MKDIR, RMDIR, TRUNCATE };

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start (void) {
  const char *path = getenv("STRIKING");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, INTS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

// Whether the call has to fail; if so, sets errno.
static int struck (int which) {
  if (!control || control[COUNT] <= 0 || __sync_sub_and_fetch(&control[COUNT], 1) != 0) return 0;
  control[CALL] = which;
  control[REACHED] = 1;
  if (control[WHAT] < 0) kill(getpid(), -control[WHAT]);
  if (control[WHAT] > 0) {
    errno = control[WHAT];
    return 1;
  }
  while (!control[GO]) usleep(500);
  control[GO] = 0;
  return 0;
}

// What Node reads of itself doesn't count, and no descriptor of another kind.
static int is_ours (const char *path) {
  return !strncmp(path, "/proc/self/fd/", 14) || strstr(path, "editd-") != NULL;
}
static int is_file (int fd) {
  struct stat is;
  return !fstat(fd, &is) && (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode));
}

int open64 (const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return is_ours(path) && struck(OPEN) ? -1 : REAL(open64)(path, flags, mode);
}
int open (const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return is_ours(path) && struck(OPEN) ? -1 : REAL(open)(path, flags, mode);
}

ssize_t write (int fd, const void *bytes, size_t size) {
  return control && control[COUNT] > 0 && is_file(fd) && struck(WRITE) ? -1 : REAL(write)(fd, bytes, size);
}
ssize_t pwrite64 (int fd, const void *bytes, size_t size, off64_t at) {
  return struck(WRITE) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}
ssize_t pwrite (int fd, const void *bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }
ssize_t pwritev64 (int fd, const struct iovec *pieces, int count, off64_t at) {
  return struck(WRITE) ? -1 : REAL(pwritev64)(fd, pieces, count, at);
}
ssize_t pwritev (int fd, const struct iovec *pieces, int count, off_t at) { return pwritev64(fd, pieces, count, at); }
int ftruncate64 (int fd, off64_t size) { return struck(TRUNCATE) ? -1 : REAL(ftruncate64)(fd, size); }
int ftruncate (int fd, off_t size) { return ftruncate64(fd, size); }
int fsync (int fd) { return struck(SYNC) ? -1 : REAL(fsync)(fd); }
int rename (const char *from, const char *to) { return struck(RENAME) ? -1 : REAL(rename)(from, to); }
int link (const char *from, const char *to) { return struck(LINK) ? -1 : REAL(link)(from, to); }
int unlink (const char *path) { return struck(UNLINK) ? -1 : REAL(unlink)(path); }
int rmdir (const char *path) { return struck(RMDIR) ? -1 : REAL(rmdir)(path); }
int mkdir (const char *path, mode_t mode) { return struck(MKDIR) ? -1 : REAL(mkdir)(path, mode); }
