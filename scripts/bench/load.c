// The load generator of the benchmark: sends one request repeatedly over connections to the loopback address, and prints the results as one JSON
// object. One thread and no allocation while it measures, so that it is not the bottleneck.
//
//   load --port P --connections N --requests N [--warm N] [--per-second R] [--ramp-us U] [--longest-s S] [--path /x] [--body FILE]
//        [--header 'name: value']... [--secrets FILE] [--stream] [--pid P]... [--after-ms M] [--memory-at-s S]
//
// Without --per-second each connection sends its next request when it has its answer. With it requests are due at fixed times, and their
// latency counts from the time they were due at, whether a connection was free or not. --pid: processes whose CPU time and memory are
// summed up. --secrets: bearer tokens, one per line, which requests use in turn.
// Events of a stream contain the time at which they were sent, `T=` and sixteen digits of CLOCK_MONOTONIC: see vendor.c.
#include "wire.h"

enum { LONGEST_HEAD = 16 * 1024, MOST_HEADERS = 8 * 1024, MOST_READ = 1 << 20, MOST_READY = 1024, MOST_PIDS = 64 };
static const char DONE[] = "[DONE]";

// The state of the answer parser.
enum place { HEAD, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER, UNTIL_CLOSED };
enum progress { MORE, COMPLETE, BROKEN };

struct connection {
  int fd; // -1: closed
  bool connecting, busy, counted;
  uint64_t asked; // nanoseconds, as all times here
  uint64_t first; // when the first byte of its body came; 0: not yet
  const char *unsent;
  size_t unsent_length;

  enum place place;
  char head[LONGEST_HEAD];
  size_t head_length;
  int status;
  bool stays;        // the connection can be used again
  int64_t left;      // bytes of the body or of a chunk
  size_t line_length; // of the trailer

  int stamp_at; // how much of `T=` and its digits was seen
  uint64_t stamp;
  size_t done_at; // how much of [DONE] was seen
  bool done;
};

// Samples, sorted at the end.
struct samples {
  uint64_t *values;
  size_t count, room;
};

static struct {
  int port, connections, after_ms;
  long requests, warm, ramp_us;
  double per_second, longest_s, memory_at_s;
  bool stream;
  pid_t pids[MOST_PIDS];
  int pid_count;
  const char *path, *body, *secrets;
  char headers[MOST_HEADERS];
} options = {.connections = 64, .requests = 10000, .longest_s = 60, .path = "/v1/chat/completions"};

static int poller;
static struct sockaddr_in address;
// All requests, sent in order and then again from the first.
static struct request {
  char *bytes;
  size_t length;
} *requests;
static size_t request_count;
static struct connection *connections;

// The measurement has begun.
static bool measuring;
// Connections that were used.
static int opened;
static long sent, answered, counted, errors, other_status, unfinished, events;
static struct samples latencies, first_bytes, delays;

static void reserve(struct samples *samples, size_t room) {
  samples->room = room;
  samples->values = realloc(samples->values, room * sizeof *samples->values);
  if (samples->values == NULL) fail("memory");
}

static void add(struct samples *samples, uint64_t value) {
  if (samples->count == samples->room) reserve(samples, samples->room * 2 + 1024);
  samples->values[samples->count++] = value;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// In microseconds; the samples have to be sorted.
static double percentile(const struct samples *samples, double part) {
  if (samples->count == 0) return 0;
  return samples->values[(size_t)(part * (samples->count - 1) + 0.5)] / 1000.0;
}

// ---- the measured processes

// CPU time of all their threads.
static uint64_t cpu_time(void) {
  uint64_t all = 0;
  for (int i = 0; i < options.pid_count; i++) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(options.pids[i], &clock) != 0 || clock_gettime(clock, &time) != 0) continue;
    all += (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
  }
  return all;
}

// Resident, in KiB.
static long memory(void) {
  long all = 0;
  for (int i = 0; i < options.pid_count; i++) {
    char line[256];
    long kib = 0;
    snprintf(line, sizeof line, "/proc/%d/status", options.pids[i]);
    FILE *file = fopen(line, "r");
    if (file == NULL) continue;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmRSS: %ld", &kib) != 1) continue;
    fclose(file);
    all += kib;
  }
  return all;
}

// ---- requests

static void listen_to(struct connection *c, int operation, bool writing) {
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(poller, operation, c->fd, &event);
}

static void open_connection(struct connection *c) {
  const int on = 1;
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) fail("socket");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  c->connecting = true;
  connect(c->fd, (const struct sockaddr *)&address, sizeof address);
  listen_to(c, EPOLL_CTL_ADD, true);
}

static void close_connection(struct connection *c) {
  close(c->fd);
  c->fd = -1;
}

static void send_rest(struct connection *c) {
  while (c->unsent_length > 0) {
    const ssize_t length = send(c->fd, c->unsent, c->unsent_length, MSG_NOSIGNAL);
    if (length < 0) {
      // Any error except a full buffer is detected when the answer is read.
      if (errno == EAGAIN) listen_to(c, EPOLL_CTL_MOD, true);
      return;
    }
    c->unsent += length;
    c->unsent_length -= length;
  }
}

// Requests that may be sent now. Whole answers are measured when all requests before them are answered: a server that works on many at once has done most
// of their work when it answers the first one. Streams go on, because they must not all start in the same instant.
static long allowed(void) {
  return measuring || options.stream || options.per_second > 0 ? options.warm + options.requests : options.warm;
}

static void ask(struct connection *c, uint64_t asked) {
  c->busy = true;
  const struct request *request = &requests[(size_t)sent % request_count];
  c->counted = sent++ >= options.warm;
  c->asked = asked;
  c->first = 0;
  c->unsent = request->bytes;
  c->unsent_length = request->length;
  c->place = HEAD;
  c->head_length = c->line_length = c->done_at = 0;
  c->stamp_at = 0;
  c->done = false;
  if (c->fd < 0) open_connection(c);
  else if (!c->connecting) send_rest(c);
}

static void end_answer(struct connection *c, enum progress how) {
  c->busy = false;
  answered++;
  if (c->counted) {
    counted++;
    if (how == BROKEN) {
      errors++;
    } else if (c->status != 200) {
      other_status++;
    } else {
      add(&latencies, now() - c->asked);
      if (c->first != 0) add(&first_bytes, c->first - c->asked);
      if (options.stream && !c->done) unfinished++;
    }
  }
  if (how == BROKEN || !c->stays) close_connection(c);
}

// ---- answers

// Finds stamps and the last event, even if they are split between reads.
static void see_events(struct connection *c, const char *bytes, size_t length, uint64_t at) {
  for (size_t i = 0; i < length; i++) {
    const char byte = bytes[i];
    if (c->stamp_at >= 2 && byte >= '0' && byte <= '9') {
      c->stamp = c->stamp * 10 + (uint64_t)(byte - '0');
      if (++c->stamp_at == 2 + STAMP_DIGITS) {
        c->stamp_at = 0;
        if (c->counted) {
          events++;
          add(&delays, at - c->stamp);
        }
      }
    } else if (c->stamp_at == 1 && byte == '=') {
      c->stamp_at = 2;
      c->stamp = 0;
    } else {
      c->stamp_at = byte == 'T' ? 1 : 0;
    }
    c->done_at = byte == DONE[c->done_at] ? c->done_at + 1 : byte == DONE[0] ? 1 : 0;
    if (c->done_at == sizeof DONE - 1) {
      c->done = true;
      c->done_at = 0;
    }
  }
}

static void see_body(struct connection *c, const char *bytes, size_t length) {
  const uint64_t at = now();
  if (c->first == 0) c->first = at;
  if (options.stream) see_events(c, bytes, length, at);
}

static enum progress begin_body(struct connection *c) {
  const char *length = header(c->head, "content-length"), *coding = header(c->head, "transfer-encoding"),
             *connection = header(c->head, "connection");
  c->status = atoi(c->head + strlen("HTTP/1.1 "));
  c->head_length = 0;
  if (c->status == 100) return MORE;
  c->stays = connection == NULL || strncasecmp(connection, "close", 5) != 0;
  if (coding != NULL && strncasecmp(coding, "chunked", 7) == 0) {
    c->place = CHUNK_SIZE;
    c->left = 0;
  } else if (length != NULL) {
    c->place = BODY;
    c->left = atoll(length);
    return c->left == 0 ? COMPLETE : MORE;
  } else {
    c->place = UNTIL_CLOSED;
    c->stays = false;
  }
  return MORE;
}

// Consumes some of the bytes and returns their number; sets `progress` if the answer is complete.
static size_t take(struct connection *c, const char *bytes, size_t length, enum progress *progress) {
  const size_t part = length < (uint64_t)c->left ? length : (size_t)c->left;
  switch (c->place) {
    case HEAD: {
      const size_t room = LONGEST_HEAD - 1 - c->head_length, taken = length < room ? length : room, before = c->head_length;
      memcpy(c->head + before, bytes, taken);
      c->head_length += taken;
      c->head[c->head_length] = 0;
      char *end = strstr(c->head + (before > 3 ? before - 3 : 0), "\r\n\r\n");
      if (end == NULL) {
        if (taken < length) *progress = BROKEN;
        return taken;
      }
      end[2] = 0;
      const size_t used = (size_t)(end - c->head) + 4 - before;
      *progress = begin_body(c);
      return used;
    }
    case BODY:
      see_body(c, bytes, part);
      c->left -= (int64_t)part;
      if (c->left == 0) *progress = COMPLETE;
      return part;
    case CHUNK_SIZE:
      if (read_chunk_size(*bytes, &c->left)) c->place = c->left == 0 ? TRAILER : CHUNK;
      return 1;
    case CHUNK:
      see_body(c, bytes, part);
      c->left -= (int64_t)part;
      if (c->left == 0) c->place = CHUNK_END;
      return part;
    case CHUNK_END:
      if (*bytes == '\n') c->place = CHUNK_SIZE;
      return 1;
    case TRAILER:
      if (*bytes == '\n' && c->line_length == 0) *progress = COMPLETE;
      else if (*bytes == '\n') c->line_length = 0;
      else if (*bytes != '\r') c->line_length++;
      return 1;
    case UNTIL_CLOSED:
      see_body(c, bytes, length);
      return length;
  }
  return length;
}

static enum progress read_answer(struct connection *c) {
  static char bytes[MOST_READ];
  const ssize_t length = recv(c->fd, bytes, sizeof bytes, 0);
  if (length < 0) return errno == EAGAIN ? MORE : BROKEN;
  if (length == 0) return c->busy && c->place == UNTIL_CLOSED ? COMPLETE : BROKEN;
  // An answer without a request.
  if (!c->busy) return BROKEN;
  enum progress progress = MORE;
  for (size_t at = 0; at < (size_t)length && progress == MORE;) at += take(c, bytes + at, (size_t)length - at, &progress);
  return progress;
}

static void serve(struct connection *c, uint32_t ready) {
  if (c->fd < 0) return;
  if (ready & EPOLLOUT) {
    c->connecting = false;
    listen_to(c, EPOLL_CTL_MOD, false);
    send_rest(c);
  }
  if ((ready & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
  const enum progress progress = read_answer(c);
  if (progress == MORE) return;
  if (!c->busy) {
    close_connection(c);
    return;
  }
  end_answer(c, progress);
  if (options.per_second == 0 && sent < allowed()) ask(c, now());
}

// ---- the run

static void read_options(int count, char **words) {
  for (int i = 1; i < count; i++) {
    const char *name = words[i];
    if (strcmp(name, "--stream") == 0) {
      options.stream = true;
      continue;
    }
    const char *value = words[++i];
    if (value == NULL) {
      fprintf(stderr, "%s needs a value\n", name);
      exit(2);
    }
    if (strcmp(name, "--port") == 0) options.port = atoi(value);
    else if (strcmp(name, "--connections") == 0) options.connections = atoi(value);
    else if (strcmp(name, "--requests") == 0) options.requests = atol(value);
    else if (strcmp(name, "--warm") == 0) options.warm = atol(value);
    else if (strcmp(name, "--per-second") == 0) options.per_second = atof(value);
    else if (strcmp(name, "--ramp-us") == 0) options.ramp_us = atol(value);
    else if (strcmp(name, "--longest-s") == 0) options.longest_s = atof(value);
    else if (strcmp(name, "--path") == 0) options.path = value;
    else if (strcmp(name, "--body") == 0) options.body = value;
    else if (strcmp(name, "--secrets") == 0) options.secrets = value;
    else if (strcmp(name, "--pid") == 0 && options.pid_count < MOST_PIDS) options.pids[options.pid_count++] = atoi(value);
    else if (strcmp(name, "--after-ms") == 0) options.after_ms = atoi(value);
    else if (strcmp(name, "--memory-at-s") == 0) options.memory_at_s = atof(value);
    else if (strcmp(name, "--header") == 0 && strlen(options.headers) + strlen(value) + 3 < sizeof options.headers) {
      strcat(strcat(options.headers, value), "\r\n");
    } else {
      fprintf(stderr, "%s is not known, or too long\n", name);
      exit(2);
    }
  }
}

// The whole of a file.
static char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) fail(name);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (bytes == NULL) fail("memory");
  if (fread(bytes, 1, *length, file) != *length) fail(name);
  bytes[*length] = 0;
  fclose(file);
  return bytes;
}

// `secret`: NULL for none.
static void write_request(const char *secret, const char *body, size_t body_length) {
  requests = realloc(requests, (request_count + 1) * sizeof *requests);
  char *at = malloc(body_length + MOST_HEADERS + 1024);
  if (requests == NULL || at == NULL) fail("memory");
  requests[request_count].bytes = at;
  at += sprintf(at, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", body == NULL ? "GET" : "POST", options.path, options.port,
                options.headers);
  if (secret != NULL) at += snprintf(at, 512, "Authorization: Bearer %.256s\r\n", secret);
  if (body != NULL) at += sprintf(at, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body_length);
  at += sprintf(at, "\r\n");
  if (body != NULL) memcpy(at, body, body_length);
  requests[request_count].length = (size_t)(at - requests[request_count].bytes) + body_length;
  request_count++;
}

static void write_requests(void) {
  size_t length = 0;
  const char *body = options.body == NULL ? NULL : read_file(options.body, &length);
  if (options.secrets == NULL) {
    write_request(NULL, body, length);
    return;
  }
  size_t ignored;
  char *secrets = read_file(options.secrets, &ignored);
  for (char *secret = strtok(secrets, "\n"); secret != NULL; secret = strtok(NULL, "\n")) write_request(secret, body, length);
}

// Sends all due requests. Returns nanoseconds until the next one is due.
static uint64_t send_due(uint64_t began) {
  static int next;
  static long due;
  const long all = options.warm + options.requests;
  const uint64_t at = now(), far = 100000000;
  if (options.per_second == 0) {
    for (; opened < options.connections && sent < allowed(); opened++) {
      const uint64_t opens = began + (uint64_t)opened * (uint64_t)options.ramp_us * 1000;
      if (opens > at) return opens - at;
      ask(&connections[opened], at);
    }
    return far;
  }
  for (; due < all; due++) {
    const uint64_t asks = began + (uint64_t)(due * (1e9 / options.per_second));
    if (asks > at) return asks - at < far ? asks - at : far;
    int tried = 0;
    while (tried < options.connections && connections[next].busy) {
      next = (next + 1) % options.connections;
      tried++;
    }
    // All are busy: the request is late, which its latency includes.
    if (connections[next].busy) return far;
    ask(&connections[next], asks);
    next = (next + 1) % options.connections;
  }
  return far;
}

int main(int count, char **words) {
  read_options(count, words);
  write_requests();
  if (request_count == 0) {
    fprintf(stderr, "%s has no secrets\n", options.secrets);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const struct rlimit files = {200000, 200000};
  setrlimit(RLIMIT_NOFILE, &files);
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  poller = epoll_create1(0);
  connections = calloc((size_t)options.connections, sizeof *connections);
  if (poller < 0 || connections == NULL) fail("start");
  for (int i = 0; i < options.connections; i++) connections[i].fd = -1;
  reserve(&latencies, (size_t)options.requests + 1);
  reserve(&first_bytes, (size_t)options.requests + 1);
  if (options.stream) reserve(&delays, 4u << 20);

  const long all = options.warm + options.requests, memory_before = memory();
  const uint64_t began = now(), ends = began + (uint64_t)(options.longest_s * 1e9);
  uint64_t counting = 0, cpu_before = 0;
  long memory_during = 0;
  while (answered < all && now() < ends) {
    if (!measuring && answered >= options.warm) {
      measuring = true;
      counting = now();
      cpu_before = cpu_time();
      for (int i = 0; i < opened && sent < all; i++)
        if (!connections[i].busy) ask(&connections[i], counting);
    }
    if (options.memory_at_s > 0 && memory_during == 0 && now() - began > options.memory_at_s * 1e9) memory_during = memory();
    const uint64_t wait = send_due(began);
    const struct timespec limit = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    struct epoll_event ready[MOST_READY];
    const int many = epoll_pwait2(poller, ready, MOST_READY, &limit, NULL);
    for (int i = 0; i < many; i++) serve(ready[i].data.ptr, ready[i].events);
  }
  const double seconds = (now() - (counting == 0 ? began : counting)) / 1e9;
  // The work of a server after it has sent an answer is part of its cost.
  if (options.after_ms > 0) usleep((useconds_t)options.after_ms * 1000);
  const double cpu_us = (cpu_time() - cpu_before) / 1000.0;

  qsort(latencies.values, latencies.count, sizeof *latencies.values, ascending);
  qsort(first_bytes.values, first_bytes.count, sizeof *first_bytes.values, ascending);
  qsort(delays.values, delays.count, sizeof *delays.values, ascending);
  printf("{\"answered\":%zu,\"errors\":%ld,\"otherStatus\":%ld,\"unfinished\":%ld,\"late\":%ld,\"seconds\":%.3f,\"perSecond\":%.1f",
         latencies.count, errors, other_status, unfinished, all - answered, seconds, counted / seconds);
  printf(",\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"firstByteP50\":%.1f,\"firstByteP99\":%.1f", percentile(&latencies, 0.5),
         percentile(&latencies, 0.9), percentile(&latencies, 0.99), percentile(&first_bytes, 0.5), percentile(&first_bytes, 0.99));
  if (options.stream)
    printf(",\"events\":%ld,\"eventDelayP50\":%.1f,\"eventDelayP99\":%.1f", events, percentile(&delays, 0.5), percentile(&delays, 0.99));
  if (options.pid_count > 0 && counted > 0) {
    printf(",\"cpu\":%.2f,\"memoryBefore\":%ld", cpu_us / counted, memory_before);
    if (memory_during > 0) printf(",\"memoryDuring\":%ld", memory_during);
    if (events > 0) printf(",\"cpuPerEvent\":%.3f", cpu_us / events);
  }
  printf("}\n");
  return 0;
}
