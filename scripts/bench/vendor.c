// The vendor of the benchmark: answers every request from the loopback address with the same chat completion, or, if the body requests a stream, with
// the same events at fixed times. One thread and no other work, so that it is not the bottleneck.
//
//   vendor PORT EVENTS GAP_US
//
// Each event contains the time at which it was sent: `T=` and sixteen digits of CLOCK_MONOTONIC in nanoseconds, which load.c reads.
#include "wire.h"

enum { MOST_CONNECTIONS = 65536, LONGEST_HEAD = 16 * 1024, MOST_READ = 256 * 1024, MOST_READY = 512 };
// The searched part of a body: `stream` is near its beginning.
enum { LOOKED_AT = 4 * 1024 };

enum place { HEAD, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER, ANSWERING };

struct connection {
  int fd;
  enum place place;
  char *input; // what has come and was not taken: a head that is not complete, or requests sent before their turn
  size_t input_length, input_room;
  int64_t left;       // bytes of the body or of a chunk
  size_t line_length; // of a trailer
  char body[LOOKED_AT];
  size_t body_length;

  char *output; // what did not fit into the socket
  size_t output_length, output_room;

  int event;    // the next one of a running stream
  uint64_t due; // when it is
  struct connection *before, *after; // in the line of those that wait
  bool waits;
};

static int events, poller;
static uint64_t gap;
static struct connection *connections[MOST_CONNECTIONS];

static char whole[4096], stream_head[512], event_chunk[1024], last_chunk[2048];
static size_t whole_length, stream_head_length, event_length, last_length;
static char *event_stamp;

// ---- the answers

#define ANSWER_ID "\"id\":\"chatcmpl-A1b2C3d4E5f6G7h8I9j0\""
#define ANSWER_MODEL "\"created\":1760000000,\"model\":\"gpt-4o-mini-2024-07-18\""
#define USAGE "\"prompt_tokens\":412,\"completion_tokens\":96,\"total_tokens\":508"
#define HEADERS "x-request-id: req_0123456789abcdef\r\nConnection: keep-alive\r\n"

// 1 KB, with the usual members of such answers.
static void write_answers(void) {
  static const char words[] = "the quick brown fox jumps over it ";
  char text[401], body[2048], event[768], last[1024];
  for (size_t i = 0; i < sizeof text - 1; i++) text[i] = words[i % (sizeof words - 1)];
  text[sizeof text - 1] = 0;
  const int length = snprintf(
      body, sizeof body,
      "{" ANSWER_ID ",\"object\":\"chat.completion\"," ANSWER_MODEL ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
      "\"content\":\"%s\",\"refusal\":null,\"annotations\":[]},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{" USAGE ","
      "\"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0,"
      "\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}},\"service_tier\":\"default\","
      "\"system_fingerprint\":\"fp_560af6e559\"}",
      text);
  whole_length = (size_t)snprintf(whole, sizeof whole,
                                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" HEADERS "\r\n%s", length, body);
  stream_head_length = (size_t)snprintf(stream_head, sizeof stream_head,
                                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" HEADERS
                                        "Transfer-Encoding: chunked\r\n\r\n");
  const int one = snprintf(event, sizeof event,
                           "data: {" ANSWER_ID ",\"object\":\"chat.completion.chunk\"," ANSWER_MODEL ",\"service_tier\":\"default\","
                           "\"system_fingerprint\":\"fp_560af6e559\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"T=%0*d;%.40s\"},"
                           "\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n",
                           STAMP_DIGITS, 0, text);
  event_length = (size_t)snprintf(event_chunk, sizeof event_chunk, "%x\r\n%s\r\n", (unsigned)one, event);
  event_stamp = strstr(event_chunk, "T=") + 2;
  const int end = snprintf(last, sizeof last,
                           "data: {" ANSWER_ID ",\"object\":\"chat.completion.chunk\"," ANSWER_MODEL ",\"choices\":[{\"index\":0,\"delta\":{},"
                           "\"finish_reason\":\"stop\"}]}\n\ndata: {" ANSWER_ID ",\"object\":\"chat.completion.chunk\"," ANSWER_MODEL
                           ",\"choices\":[],\"usage\":{" USAGE "}}\n\ndata: [DONE]\n\n");
  last_length = (size_t)snprintf(last_chunk, sizeof last_chunk, "%x\r\n%s\r\n0\r\n\r\n", (unsigned)end, last);
}

// ---- the queue of streams by the time of their next event: all wait equally long, so a new one is the last

static struct connection *first, *last_in_line;

static void wait_in_line(struct connection *c, uint64_t due) {
  c->due = due;
  c->waits = true;
  c->before = last_in_line;
  c->after = NULL;
  *(last_in_line == NULL ? &first : &last_in_line->after) = c;
  last_in_line = c;
}

static void leave_line(struct connection *c) {
  if (!c->waits) return;
  *(c->before == NULL ? &first : &c->before->after) = c->after;
  *(c->after == NULL ? &last_in_line : &c->after->before) = c->before;
  c->waits = false;
}

// ---- connections

static void listen_to(struct connection *c, int operation, bool writing) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (writing ? EPOLLOUT : 0), .data.fd = c->fd};
  epoll_ctl(poller, operation, c->fd, &event);
}

static void accept_all(int listener) {
  for (;;) {
    const int on = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    struct connection *c = fd < MOST_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
    if (c == NULL) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->fd = fd;
    connections[fd] = c;
    listen_to(c, EPOLL_CTL_ADD, false);
  }
}

static void end_connection(struct connection *c) {
  leave_line(c);
  connections[c->fd] = NULL;
  close(c->fd);
  free(c->input);
  free(c->output);
  free(c);
}

static void append(char **bytes, size_t *length, size_t *room, const char *more, size_t added) {
  if (*length + added > *room) {
    *room = (*length + added) * 2;
    *bytes = realloc(*bytes, *room);
    if (*bytes == NULL) fail("memory");
  }
  memcpy(*bytes + *length, more, added);
  *length += added;
}

// False if the connection was closed.
static bool send_bytes(struct connection *c, const char *bytes, size_t length) {
  if (c->output_length == 0) {
    const ssize_t sent = send(c->fd, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) {
      bytes += sent;
      length -= (size_t)sent;
    }
    if (length == 0) return true;
    listen_to(c, EPOLL_CTL_MOD, true);
  }
  append(&c->output, &c->output_length, &c->output_room, bytes, length);
  return true;
}

static bool send_rest(struct connection *c) {
  const ssize_t sent = send(c->fd, c->output, c->output_length, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN;
  c->output_length -= (size_t)sent;
  memmove(c->output, c->output + sent, c->output_length);
  if (c->output_length == 0) listen_to(c, EPOLL_CTL_MOD, false);
  return true;
}

// ---- requests and their answers

static bool read_requests(struct connection *c, const char *bytes, size_t length);

// Handles requests that were pipelined.
static bool next_request(struct connection *c) {
  c->place = HEAD;
  if (c->input_length == 0) return true;
  char *input = c->input;
  const size_t length = c->input_length;
  c->input = NULL;
  c->input_length = c->input_room = 0;
  const bool is_open = read_requests(c, input, length);
  free(input);
  return is_open;
}

// Sends the events that are due by now.
static bool go_on(struct connection *c) {
  for (;;) {
    if (c->event == events) return send_bytes(c, last_chunk, last_length) && next_request(c);
    char stamp[STAMP_DIGITS + 1];
    snprintf(stamp, sizeof stamp, "%0*" PRIu64, STAMP_DIGITS, now());
    memcpy(event_stamp, stamp, STAMP_DIGITS);
    if (c->event == 0) {
      // Head and first event are sent together, as most vendors do.
      char both[sizeof stream_head + sizeof event_chunk];
      memcpy(both, stream_head, stream_head_length);
      memcpy(both + stream_head_length, event_chunk, event_length);
      if (!send_bytes(c, both, stream_head_length + event_length)) return false;
    } else if (!send_bytes(c, event_chunk, event_length)) {
      return false;
    }
    c->event++;
    if (gap > 0) {
      const uint64_t at = now();
      wait_in_line(c, c->due + gap > at ? c->due + gap : at);
      return true;
    }
  }
}

static bool answer(struct connection *c) {
  c->place = ANSWERING;
  c->body[c->body_length] = 0;
  if (strstr(c->body, "\"stream\":true") == NULL && strstr(c->body, "\"stream\": true") == NULL)
    return send_bytes(c, whole, whole_length) && next_request(c);
  c->event = 0;
  c->due = now();
  return go_on(c);
}

// The head is complete, and ends in a zero.
static bool begin_body(struct connection *c, const char *head) {
  const char *length = header(head, "content-length"), *coding = header(head, "transfer-encoding");
  c->body_length = c->line_length = 0;
  c->left = length == NULL ? 0 : atoll(length);
  if (header(head, "expect") != NULL && !send_bytes(c, "HTTP/1.1 100 Continue\r\n\r\n", 25)) return false;
  if (coding != NULL) {
    c->place = CHUNK_SIZE;
    c->left = 0;
    return true;
  }
  c->place = BODY;
  return c->left > 0 || answer(c);
}

static void look_at(struct connection *c, const char *bytes, size_t length) {
  const size_t room = LOOKED_AT - 1 - c->body_length, taken = length < room ? length : room;
  memcpy(c->body + c->body_length, bytes, taken);
  c->body_length += taken;
}

// Consumes some of the bytes and returns their number, or 0 if the connection must be closed.
static size_t take(struct connection *c, const char *bytes, size_t length) {
  const size_t part = length < (uint64_t)c->left ? length : (size_t)c->left;
  switch (c->place) {
    case ANSWERING:
      if (c->input_length + length > MOST_READ) return 0;
      append(&c->input, &c->input_length, &c->input_room, bytes, length);
      return length;
    case HEAD: {
      const size_t before = c->input_length;
      if (before + length > MOST_READ) return 0;
      append(&c->input, &c->input_length, &c->input_room, bytes, length);
      const char *end = memmem(c->input, c->input_length, "\r\n\r\n", 4);
      if (end == NULL) return c->input_length < LONGEST_HEAD ? length : 0;
      const size_t head_length = (size_t)(end - c->input) + 2;
      char *head = c->input;
      head[head_length] = 0;
      c->input = NULL;
      c->input_length = c->input_room = 0;
      const bool is_open = begin_body(c, head);
      free(head);
      return is_open ? head_length + 2 - before : 0;
    }
    case BODY:
      look_at(c, bytes, part);
      c->left -= (int64_t)part;
      return c->left > 0 || answer(c) ? part : 0;
    case CHUNK_SIZE:
      if (read_chunk_size(*bytes, &c->left)) c->place = c->left == 0 ? TRAILER : CHUNK;
      return 1;
    case CHUNK:
      look_at(c, bytes, part);
      c->left -= (int64_t)part;
      if (c->left == 0) c->place = CHUNK_END;
      return part;
    case CHUNK_END:
      if (*bytes == '\n') c->place = CHUNK_SIZE;
      return 1;
    case TRAILER:
      if (*bytes == '\n' && c->line_length == 0) return answer(c) ? 1 : 0;
      c->line_length = *bytes == '\n' ? 0 : c->line_length + (*bytes != '\r');
      return 1;
  }
  return 0;
}

static bool read_requests(struct connection *c, const char *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    const size_t taken = take(c, bytes + at, length - at);
    if (taken == 0) return false;
    at += taken;
  }
  return true;
}

static bool serve(struct connection *c, uint32_t ready) {
  static char bytes[MOST_READ];
  if (ready & EPOLLOUT && c->output_length > 0 && !send_rest(c)) return false;
  if ((ready & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) == 0) return true;
  const ssize_t length = recv(c->fd, bytes, sizeof bytes, 0);
  if (length < 0) return errno == EAGAIN;
  return length > 0 && read_requests(c, bytes, (size_t)length);
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "usage: vendor PORT EVENTS GAP_US\n");
    return 2;
  }
  events = atoi(words[2]);
  gap = (uint64_t)atoll(words[3]) * 1000;
  write_answers();
  signal(SIGPIPE, SIG_IGN);
  const struct rlimit files = {MOST_CONNECTIONS, MOST_CONNECTIONS};
  setrlimit(RLIMIT_NOFILE, &files);
  const int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) fail("listen");
  poller = epoll_create1(0);
  struct epoll_event accepting = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &accepting);
  fprintf(stderr, "ready %s\n", words[1]);
  for (;;) {
    const uint64_t at = now();
    const uint64_t wait = first == NULL ? 1000000000u : first->due > at ? first->due - at : 0;
    const struct timespec limit = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    struct epoll_event ready[MOST_READY];
    const int many = epoll_pwait2(poller, ready, MOST_READY, &limit, NULL);
    for (int i = 0; i < many; i++) {
      const int fd = ready[i].data.fd;
      if (fd == listener) accept_all(listener);
      else if (connections[fd] != NULL && !serve(connections[fd], ready[i].events)) end_connection(connections[fd]);
    }
    for (const uint64_t by = now(); first != NULL && first->due <= by;) {
      struct connection *c = first;
      leave_line(c);
      if (!go_on(c)) end_connection(c);
    }
  }
}
