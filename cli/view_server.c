// SPDX-License-Identifier: Apache-2.0
// The server of the page. It hands out the page's own files and what view_source.c packs, nothing
// else: no name in a request ever becomes the name of a file. Every address begins with a token
// drawn at random, so that other users and other pages cannot ask. One thread serves everybody.
//
// Limits: the head of a request (memory per connection), no bodies, connections, seconds for a
// request to arrive and for an answer to be taken, bytes of answers under way.
#define _GNU_SOURCE
#include "solve.h"
#include "view.h"
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

enum {
    SERVER_CONNECTIONS = 256,
    SERVER_HEAD = 16384, // bytes of memory for a request
    SERVER_BACKLOG = 1024,
    SERVER_IDLE = 30, // seconds without any byte
    SERVER_TOKEN = 16 // random bytes
};
#define SERVER_FIRST 3.0            // seconds for the first request to arrive
#define SERVER_NEXT 30.0            // … and for a later one
#define SERVER_ANSWER 120.0         // … and for an answer to be taken
#define SERVER_UNDER_WAY (1u << 30) // bytes of answers, beside the one that exceeds it

typedef enum server_state { SERVER_WAITS_FIRST, SERVER_WAITS, SERVER_ANSWERS } server_state;

// A connection, for the clock.
typedef struct server_slot {
    int socket; // −1: none
    server_state state;
    double since;
} server_slot;

struct view_server {
    view_source *source;
    struct MHD_Daemon *daemon;
    char token[2 * SERVER_TOKEN + 1];
    char *url;
    size_t under_way; // bytes; the server's thread alone counts
    pthread_mutex_t lock;
    server_slot slot[SERVER_CONNECTIONS]; // under the lock
};

// Only what comes from here runs, draws and is asked; nobody frames the page.
static const char server_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

static enum MHD_Result server_queue(struct MHD_Connection *c, unsigned code, const char *type,
                                    struct MHD_Response *response) {
    static const char *const head[][2] = {
        {"Content-Security-Policy", server_policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    if (!response) return MHD_NO;
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        MHD_add_response_header(response, head[k][0], head[k][1]);
    MHD_add_response_header(response, "Content-Type", type);
    if (code == MHD_HTTP_SERVICE_UNAVAILABLE) MHD_add_response_header(response, "Retry-After", "1");
    const enum MHD_Result queued = MHD_queue_response(c, code, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result server_text(struct MHD_Connection *c, unsigned code, const char *type,
                                   char *text, size_t size) {
    struct MHD_Response *r = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (!r) free(text);
    return server_queue(c, code, type, r);
}

static enum MHD_Result server_error(struct MHD_Connection *c, unsigned code, const char *reason) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return MHD_NO;
    fputc('{', out);
    cli_json_key(out, "error", true);
    cli_json_string(out, reason);
    fputs("}\n", out);
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return server_text(c, code, "application/json", text, size);
}

// The reason of a call that failed, for the page.
static enum MHD_Result server_failed(view_server *s, struct MHD_Connection *c,
                                     talus_status status) {
    const char *text = talus_context_last_error(s->source->ctx);
    const unsigned code =
        status == TALUS_ERR_ARG ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR;
    return server_error(c, code, text[0] ? text : talus_status_text(status));
}

// An answer under way, counted until it has been taken.
typedef struct server_answer {
    view_server *server;
    view_bytes bytes;
} server_answer;

static void server_answer_done(void *user) {
    server_answer *a = user;
    a->server->under_way -= a->bytes.size;
    view_bytes_clear(&a->bytes);
    free(a);
}

static enum MHD_Result server_bytes(view_server *s, struct MHD_Connection *c, talus_status status,
                                    view_bytes *bytes) {
    if (status != TALUS_OK || bytes->failed || s->under_way > SERVER_UNDER_WAY) {
        const bool failed = status != TALUS_OK;
        view_bytes_clear(bytes);
        return failed ? server_failed(s, c, status)
                      : server_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
                                     "too much is being sent already; ask again");
    }
    server_answer *a = cli_alloc(1, sizeof *a);
    *a = (server_answer){s, *bytes};
    s->under_way += bytes->size;
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        bytes->size, bytes->data, server_answer_done, a);
    if (!r) server_answer_done(a);
    return server_queue(c, MHD_HTTP_OK, "application/octet-stream", r);
}

static enum MHD_Result server_json(view_server *s, struct MHD_Connection *c,
                                   talus_status (*print)(view_source *, FILE *)) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return MHD_NO;
    const talus_status status = print(s->source, out);
    const bool written = fclose(out) == 0;
    if (status == TALUS_OK && written)
        return server_text(c, MHD_HTTP_OK, "application/json", text, size);
    free(text);
    return status != TALUS_OK ? server_failed(s, c, status) : MHD_NO;
}

// A whole number of a request; −1: it is none.
static int64_t server_number(const char *text) {
    if (!text || text[0] < '0' || text[0] > '9') return -1;
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 ? value : -1;
}

static int64_t server_argument(struct MHD_Connection *c, const char *key, int64_t initial) {
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
    const int64_t value = server_number(text);
    return value < 0 ? initial : value;
}

static enum MHD_Result server_frame(view_server *s, struct MHD_Connection *c, const char *which) {
    const bool live = strcmp(which, "live") == 0;
    const int64_t frame = live ? -1 : server_number(which);
    if (!live && frame < 0)
        return server_error(c, MHD_HTTP_NOT_FOUND, "frames are numbered from 0 on");
    if (live && !s->source->live) return server_error(c, MHD_HTTP_NOT_FOUND, "no run goes on");
    view_bytes bytes = {0};
    const unsigned fields = (unsigned)server_argument(c, "fields", 0) & (unsigned)VIEW_FIELDS;
    const talus_status status = view_source_pack_frame(s->source, frame, fields, &bytes);
    return server_bytes(s, c, status, &bytes);
}

static enum MHD_Result server_ledger(view_server *s, struct MHD_Connection *c) {
    const char *names = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "names");
    int64_t points = server_argument(c, "points", 4000);
    if (points < 100) points = 100;
    if (points > 100000) points = 100000;
    view_bytes bytes = {0};
    const talus_status status =
        view_source_pack_ledger(s->source, names ? names : "", points, &bytes);
    return server_bytes(s, c, status, &bytes);
}

static enum MHD_Result server_api(view_server *s, struct MHD_Connection *c, const char *name) {
    view_bytes bytes = {0};
    talus_status status;
    if (strcmp(name, "info") == 0) return server_json(s, c, view_source_print_info);
    if (strcmp(name, "state") == 0) return server_json(s, c, view_source_print_state);
    if (strcmp(name, "ledger") == 0) return server_ledger(s, c);
    if (strncmp(name, "frame/", 6) == 0) return server_frame(s, c, name + 6);
    if (strcmp(name, "bodies") == 0)
        status = view_source_pack_bodies(s->source, &bytes);
    else if (strcmp(name, "shapes") == 0)
        status = view_source_pack_shapes(s->source, &bytes);
    else if (strcmp(name, "times") == 0)
        status = view_source_pack_times(s->source, server_argument(c, "first", 0), &bytes);
    else
        return server_error(c, MHD_HTTP_NOT_FOUND, "there is nothing of this name");
    return server_bytes(s, c, status, &bytes);
}

static enum MHD_Result server_asset(struct MHD_Connection *c, const char *name) {
    const view_asset *a = view_assets;
    while (a->name && strcmp(a->name, name) != 0) a++;
    if (!a->name) return server_error(c, MHD_HTTP_NOT_FOUND, "there is nothing of this name");
    void *data; // asked for without const, but only read
    memcpy(&data, &a->data, sizeof data);
    struct MHD_Response *r = MHD_create_response_from_buffer(a->size, data, MHD_RESPMEM_PERSISTENT);
    return server_queue(c, MHD_HTTP_OK, a->type, r);
}

// What follows "/TOKEN/" of the address; NULL: the token is wrong. All of it is compared, so that
// the time taken does not tell how much of it was right.
static const char *server_after_token(const view_server *s, const char *url) {
    unsigned wrong = url[0] != '/';
    if (strlen(url) < sizeof s->token + 1) return NULL;
    for (size_t k = 0; k + 1 < sizeof s->token; k++)
        wrong |= (unsigned char)(url[k + 1] ^ s->token[k]);
    wrong |= url[sizeof s->token] != '/';
    return wrong ? NULL : url + sizeof s->token + 1;
}

static void server_mark(view_server *s, struct MHD_Connection *c, server_state state) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    server_slot *slot = info ? info->socket_context : NULL;
    if (!slot) return;
    pthread_mutex_lock(&s->lock);
    slot->state = state;
    slot->since = cli_clock();
    pthread_mutex_unlock(&s->lock);
}

// A body would come with one of these.
static bool server_has_body(struct MHD_Connection *c) {
    const char *length =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result server_handle(void *user, struct MHD_Connection *c, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_size, void **context) {
    view_server *s = user;
    static char seen;
    (void)version, (void)upload, (void)upload_size;
    if (!*context) {
        *context = &seen;
        server_mark(s, c, SERVER_ANSWERS);
        // An answer given now ends the connection before the body is read.
        if (server_has_body(c))
            return server_error(c, MHD_HTTP_CONTENT_TOO_LARGE, "requests have no body here");
        return MHD_YES;
    }
    const char *name = server_after_token(s, url);
    if (!name)
        return server_error(c, MHD_HTTP_FORBIDDEN,
                            "use the whole address that talus printed, with its token");
    const bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!get && strcmp(method, "POST") != 0)
        return server_error(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and POST are understood");
    if (!get) {
        const bool done =
            strncmp(name, "api/control/", 12) == 0 && view_source_control(s->source, name + 12);
        return done ? server_json(s, c, view_source_print_state)
                    : server_error(c, MHD_HTTP_NOT_FOUND, "no run goes on that could do this");
    }
    return strncmp(name, "api/", 4) == 0 ? server_api(s, c, name + 4) : server_asset(c, name);
}

static void server_completed(void *user, struct MHD_Connection *c, void **context,
                             enum MHD_RequestTerminationCode why) {
    (void)why;
    *context = NULL;
    server_mark(user, c, SERVER_WAITS);
}

static void server_connection(void *user, struct MHD_Connection *c, void **context,
                              enum MHD_ConnectionNotificationCode code) {
    view_server *s = user;
    pthread_mutex_lock(&s->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        server_slot *slot = s->slot;
        while (slot < s->slot + SERVER_CONNECTIONS && slot->socket >= 0) slot++;
        if (info && slot < s->slot + SERVER_CONNECTIONS) {
            *slot = (server_slot){info->connect_fd, SERVER_WAITS_FIRST, cli_clock()};
            *context = slot;
        }
    } else if (*context) {
        ((server_slot *)*context)->socket = -1; // the socket is closed after this
    }
    pthread_mutex_unlock(&s->lock);
}

void view_server_tend(view_server *s) {
    const double now = cli_clock();
    static const double limit[] = {SERVER_FIRST, SERVER_NEXT, SERVER_ANSWER};
    pthread_mutex_lock(&s->lock);
    for (server_slot *slot = s->slot; slot < s->slot + SERVER_CONNECTIONS; slot++)
        if (slot->socket >= 0 && now - slot->since > limit[slot->state])
            (void)shutdown(slot->socket, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
}

static bool server_token(view_server *s) {
    unsigned char random[SERVER_TOKEN];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    for (size_t k = 0; k < sizeof random; k++) snprintf(s->token + 2 * k, 3, "%02x", random[k]);
    return true;
}

bool view_take_port(view_address *a, const char *value) {
    const int64_t port = server_number(value);
    if (port < 0 || port > 65535) {
        cli_error("--port %s: a number from 0 (any that is free) to 65535", value);
        return false;
    }
    a->port = (int)port;
    return true;
}

// The socket address; 0 bytes: the text is no numeric address.
static socklen_t server_address(const view_address *a, struct sockaddr_storage *out) {
    const char *host = a->host ? a->host : "127.0.0.1";
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)a->port);
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)a->port);
        return sizeof *v6;
    }
    return 0;
}

static bool server_listen(view_server *s, const view_address *a) {
    struct sockaddr_storage address;
    const char *host = a->host ? a->host : "127.0.0.1";
    const socklen_t size = server_address(a, &address);
    if (size == 0) {
        cli_error("--address %s: write an address in figures, such as 127.0.0.1 (this machine "
                  "only) or 0.0.0.0 (all that reach this machine)",
                  host);
        return false;
    }
    const bool v6 = address.ss_family == AF_INET6;
    const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | (v6 ? MHD_USE_IPv6 : 0u);
    s->daemon = MHD_start_daemon(
        flags, (uint16_t)a->port, NULL, NULL, server_handle, s, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_HEAD, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SERVER_IDLE, MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)SERVER_BACKLOG,
        MHD_OPTION_NOTIFY_COMPLETED, server_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
        server_connection, s, MHD_OPTION_END);
    if (!s->daemon) {
        cli_error("no page can be served at %s, port %d: %s", host, a->port,
                  errno ? strerror(errno) : "the server did not start");
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    s->url = cli_text("http://%s%s%s:%u/%s/", v6 ? "[" : "", host, v6 ? "]" : "",
                      info ? info->port : (unsigned)a->port, s->token);
    return true;
}

view_server *view_server_start(view_source *source, const view_address *address) {
    view_server *s = cli_alloc(1, sizeof *s);
    s->source = source;
    pthread_mutex_init(&s->lock, NULL);
    for (int k = 0; k < SERVER_CONNECTIONS; k++) s->slot[k].socket = -1;
    errno = 0;
    if (!server_token(s))
        cli_error("the system gave no random numbers: %s", strerror(errno));
    else if (server_listen(s, address))
        return s;
    view_server_stop(s);
    return NULL;
}

void view_server_stop(view_server *s) {
    if (!s) return;
    if (s->daemon) MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
    free(s->url);
    free(s);
}

const char *view_server_url(const view_server *s) { return s->url; }

void view_server_announce(const view_server *s, bool json) {
    if (json) {
        putchar('{');
        cli_json_key(stdout, "url", true);
        cli_json_string(stdout, s->url);
        puts("}");
        fflush(stdout);
        return;
    }
    cli_wipe_progress();
    fprintf(stderr, "Open %s in a browser; Ctrl-C ends it\n", s->url);
    fflush(stderr);
}

void view_server_wait(view_server *s) {
    const struct timespec nap = {.tv_nsec = 100000000};
    while (!solve_interrupted()) {
        view_server_tend(s);
        nanosleep(&nap, NULL);
    }
}

bool view_page_is_there(void) {
    if (view_assets[0].name) return true;
    cli_error("the page of the viewer is not in this program: %s", view_assets_absent);
    return false;
}
