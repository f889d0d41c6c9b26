// Exchanges two names again and again until SIGTERM; then prints how often. The third argument: how many turns of a
// loop it waits at most in between; the fourth: how many microseconds it sleeps at most.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static void end (int signal) { (void) signal; stop = 1; }

int main (int count, char **names) {
  if (count < 3) return 2;
  signal(SIGTERM, end);
  unsigned long swaps = 0;
  int rest = count > 3 ? atoi(names[3]) : 0;
  int sleep = count > 4 ? atoi(names[4]) : 0;
  unsigned seed = getpid();
  // Else each sleep would last 50 microseconds longer.
  prctl(PR_SET_TIMERSLACK, 1);
  while (!stop) {
    if (renameat2(AT_FDCWD, names[1], AT_FDCWD, names[2], RENAME_EXCHANGE) == 0) swaps++;
    if (rest > 0) for (volatile int i = rand_r(&seed) % rest; i > 0; i--);
    if (sleep > 0) nanosleep(&(struct timespec) { .tv_nsec = rand_r(&seed) % (sleep * 1000) }, NULL);
  }
  printf("%lu\n", swaps);
  return 0;
}
