// Exchanges two names, again and again, until it is told to stop; then prints how often. The third argument: how long it rests at most in between.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static void end (int signal) { (void) signal; stop = 1; }

int main (int count, char **names) {
  if (count < 3) return 2;
  signal(SIGTERM, end);
  unsigned long swaps = 0;
  int rest = count > 3 ? atoi(names[3]) : 0;
  unsigned seed = getpid();
  while (!stop) {
    if (renameat2(AT_FDCWD, names[1], AT_FDCWD, names[2], RENAME_EXCHANGE) == 0) swaps++;
    if (rest > 0) for (volatile int i = rand_r(&seed) % rest; i > 0; i--);
  }
  printf("%lu\n", swaps);
  return 0;
}
