// A library to preload: makes one write to a regular file short, or fail, or short with the next one failing or killing
// the process. FAILING_WRITES names a file of five ints that say which write, and how.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// How many writes from now; 1 when it has been reached; the error, 0 for none, or -9 for SIGKILL; 1 if that write is
// short and only the next one fails; 1 while that next one is still to come.
enum { COUNT, REACHED, ERROR, SHORT, PENDING, INTS };
static volatile int32_t *control;

__attribute__((constructor)) static void start (void) {
  const char *path = getenv("FAILING_WRITES");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, INTS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

// How many of `size` bytes to write; -1: none, and sets errno.
static ssize_t part (int fd, size_t size) {
  struct stat is;
  if (!control || fstat(fd, &is) || !S_ISREG(is.st_mode)) return size;
  if (control[PENDING]) {
    control[PENDING] = 0;
    if (control[ERROR] < 0) kill(getpid(), -control[ERROR]);
    errno = control[ERROR];
    return -1;
  }
  if (control[COUNT] <= 0 || __sync_sub_and_fetch(&control[COUNT], 1) != 0) return size;
  control[REACHED] = 1;
  if (!control[SHORT]) {
    errno = control[ERROR];
    return -1;
  }
  control[PENDING] = control[ERROR] != 0;
  return size > 1 ? size / 2 : size;
}

static size_t total (const struct iovec *pieces, int count) {
  size_t size = 0;
  for (int i = 0; i < count; i++) size += pieces[i].iov_len;
  return size;
}

// Copies as many of the pieces as hold `size` bytes, the last one cut; returns how many.
static int cut (const struct iovec *pieces, struct iovec *into, size_t size) {
  int count = 0;
  for (; size > 0; count++) {
    into[count] = pieces[count];
    if (into[count].iov_len > size) into[count].iov_len = size;
    size -= into[count].iov_len;
  }
  return count;
}

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

ssize_t write (int fd, const void *bytes, size_t size) {
  ssize_t some = part(fd, size);
  return some < 0 ? -1 : REAL(write)(fd, bytes, some);
}

ssize_t pwrite64 (int fd, const void *bytes, size_t size, off64_t at) {
  ssize_t some = part(fd, size);
  return some < 0 ? -1 : REAL(pwrite64)(fd, bytes, some, at);
}
ssize_t pwrite (int fd, const void *bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }

ssize_t writev (int fd, const struct iovec *pieces, int count) {
  ssize_t size = part(fd, total(pieces, count));
  if (size < 0) return -1;
  struct iovec some[count > 0 ? count : 1];
  return REAL(writev)(fd, some, cut(pieces, some, size));
}

ssize_t pwritev64 (int fd, const struct iovec *pieces, int count, off64_t at) {
  ssize_t size = part(fd, total(pieces, count));
  if (size < 0) return -1;
  struct iovec some[count > 0 ? count : 1];
  return REAL(pwritev64)(fd, some, cut(pieces, some, size), at);
}
ssize_t pwritev (int fd, const struct iovec *pieces, int count, off_t at) { return pwritev64(fd, pieces, count, at); }
