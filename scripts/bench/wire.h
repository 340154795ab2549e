// Shared by the load generator and the vendor of the benchmark: time, and HTTP parsing.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// An event contains the time at which it was sent: `T=` and this many digits.
enum { STAMP_DIGITS = 16 };

// Nanoseconds of CLOCK_MONOTONIC.
static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

// The value of a header in a head that ends in a zero; NULL if there is none.
static const char *header(const char *head, const char *name) {
  const size_t length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) == 0 && line[length] == ':') return line + length + 1 + strspn(line + length + 1, " ");
  }
  return NULL;
}

// Consumes a byte of the line with a chunk's size. True when the line is complete.
static bool read_chunk_size(char byte, int64_t *size) {
  const char lower = byte | 32;
  if (byte >= '0' && byte <= '9') *size = *size * 16 + byte - '0';
  else if (lower >= 'a' && lower <= 'f') *size = *size * 16 + lower - 'a' + 10;
  return byte == '\n';
}
