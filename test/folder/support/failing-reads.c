// A library to preload: makes one read of a large regular file fail. FAILING_READS names a file of four ints that say
// which read, with which error, and how large the file has to be.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// How many reads from now; 1 when it has failed; the error; in bytes: reads of smaller files don't count.
enum { COUNT, REACHED, ERROR, LEAST, INTS };
static volatile int32_t *control;

__attribute__((constructor)) static void start (void) {
  const char *path = getenv("FAILING_READS");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, INTS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

// Whether this read has to fail; if so, sets errno.
static int fails (int fd) {
  struct stat is;
  if (!control || control[COUNT] <= 0 || fstat(fd, &is)) return 0;
  if (!S_ISREG(is.st_mode) || is.st_size < control[LEAST]) return 0;
  if (__sync_sub_and_fetch(&control[COUNT], 1) != 0) return 0;
  control[REACHED] = 1;
  errno = control[ERROR];
  return 1;
}

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

ssize_t read (int fd, void *bytes, size_t size) { return fails(fd) ? -1 : REAL(read)(fd, bytes, size); }
ssize_t pread64 (int fd, void *bytes, size_t size, off64_t at) {
  return fails(fd) ? -1 : REAL(pread64)(fd, bytes, size, at);
}
ssize_t pread (int fd, void *bytes, size_t size, off_t at) { return pread64(fd, bytes, size, at); }
ssize_t readv (int fd, const struct iovec *pieces, int count) {
  return fails(fd) ? -1 : REAL(readv)(fd, pieces, count);
}
ssize_t preadv64 (int fd, const struct iovec *pieces, int count, off64_t at) {
  return fails(fd) ? -1 : REAL(preadv64)(fd, pieces, count, at);
}
ssize_t preadv (int fd, const struct iovec *pieces, int count, off_t at) { return preadv64(fd, pieces, count, at); }
