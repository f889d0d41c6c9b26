// To be preloaded: makes one write to a regular file come short, really, or fail, or the one after a short one, or
// kills the process there. Which and how stands in a file of five ints that FAILING_WRITES names.
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

// In how many writes from now; 1 when it came; the error, or 0, or -9 for the signal; whether it comes short, before
// the error if there is one; 1 while that is still to come.
enum { COUNT, CAME, ERROR, SHORT, PENDING, INTS };
static volatile int32_t *control;

__attribute__((constructor)) static void start (void) {
  const char *path = getenv("FAILING_WRITES");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, INTS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

// How much of `size` is to be written; -1: nothing, and errno is set.
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
  control[CAME] = 1;
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

// As many of the pieces as hold `size` bytes, the last one cut; the caller's stay as they are.
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
