/* Sockets between threads: internet addresses of the machine itself, local names, pairs, and waiting for them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MANY = 300000, CLIENTS = 8 };

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

static struct sockaddr_in internet(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

#define ADDRESS(variable) (struct sockaddr *)&(variable), sizeof(variable)

static int port_of(int socket)
{
    struct sockaddr_in6 address;
    socklen_t length = sizeof address;
    getsockname(socket, (struct sockaddr *)&address, &length);
    return ntohs(address.sin6_port);
}

static int listener(int domain, int backlog)
{
    int server = socket(domain, SOCK_STREAM, 0);
    struct sockaddr_in address = internet("127.0.0.1", 0);
    if (domain == AF_INET) bind(server, ADDRESS(address));
    listen(server, backlog);
    return server;
}

static int option(int socket, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    getsockopt(socket, SOL_SOCKET, name, &value, &length);
    return value;
}

/* Serves lines until a client asks it to stop. */
static void *serve(void *argument)
{
    int server = *(int *)argument, list = epoll_create1(0), open_clients = 0, lines = 0, stops = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = server}, told[4];
    epoll_ctl(list, EPOLL_CTL_ADD, server, &event);
    while (!stops || open_clients) {
        int count = epoll_wait(list, told, 4, -1);
        for (int i = 0; i < count; i++) {
            if (told[i].data.fd == server) {
                int client = accept4(server, 0, 0, SOCK_NONBLOCK);
                event = (struct epoll_event){.events = EPOLLIN | EPOLLRDHUP, .data.fd = client};
                epoll_ctl(list, EPOLL_CTL_ADD, client, &event);
                open_clients++;
                continue;
            }
            char line[64] = "", answer[80];
            ssize_t length = recv(told[i].data.fd, line, 63, 0);
            if (length <= 0) {
                close(told[i].data.fd);
                open_clients--;
                continue;
            }
            stops |= !strcmp(line, "stop");
            lines++;
            send(told[i].data.fd, answer, snprintf(answer, 80, "answer to %s", line), 0);
        }
    }
    printf("served %d lines\n", lines);
    return 0;
}

static int served_port;

static void *ask(void *number)
{
    struct sockaddr_in address = internet("127.0.0.1", served_port);
    char line[16], answer[80] = "";
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), right = 0;
    connect(client, ADDRESS(address));
    for (int i = 0; i < 20; i++) {
        snprintf(line, 16, "line %ld.%d", (long)number, i);
        write(client, line, strlen(line));
        ssize_t length = read(client, answer, 79);
        right += length == (ssize_t)strlen(line) + 10 && !strncmp(answer + 10, line, strlen(line));
    }
    close(client);
    return (void *)(long)right;
}

static void serve_clients(void)
{
    int server = listener(AF_INET, 16);
    pthread_t thread, clients[CLIENTS];
    long right = 0;
    served_port = port_of(server);
    pthread_create(&thread, 0, serve, &server);
    for (long i = 0; i < CLIENTS; i++) pthread_create(&clients[i], 0, ask, (void *)i);
    for (int i = 0; i < CLIENTS; i++) {
        void *result;
        pthread_join(clients[i], &result);
        right += (long)result;
    }
    printf("right answers %ld\n", right);
    struct sockaddr_in address = internet("127.0.0.1", served_port);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, ADDRESS(address));
    send(client, "stop", 4, MSG_NOSIGNAL);
    shutdown(client, SHUT_WR);
    pthread_join(thread, 0);
    char answer[32] = "";
    ssize_t length = recv(client, answer, 31, MSG_WAITALL);
    printf("last %zd %s\n", length, answer);
    close(client);
    close(server);
}

static void *send_much(void *socket)
{
    char *bytes = calloc(1, MANY);
    long sent = send((int)(long)socket, bytes, MANY, 0);
    shutdown((int)(long)socket, SHUT_WR);
    free(bytes);
    return (void *)sent;
}

static void states(void)
{
    char bytes[64];
    int server = listener(AF_INET, 4), client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = internet("127.0.0.1", port_of(server)), told;
    struct pollfd polled = {client, POLLIN | POLLOUT, 0};
    socklen_t length = sizeof told;
    poll(&polled, 1, 0);
    printf("fresh %x, read %s", polled.revents, error(read(client, bytes, 1)));
    printf(", connect %s", error(connect(client, ADDRESS(address))));
    poll(&polled, 1, -1);
    printf(" %x %d", polled.revents, option(client, SO_ERROR));
    printf(" %s %s", error(connect(client, ADDRESS(address))), error(connect(client, ADDRESS(address))));
    int accepted = accept(server, (struct sockaddr *)&told, &length);
    printf(", peer %d %d %s\n", length, ntohs(told.sin_port) == port_of(client), inet_ntoa(told.sin_addr));
    printf("empty %s, options %d %d %d", error(recv(client, bytes, 1, 0)), option(client, SO_TYPE), option(server, SO_ACCEPTCONN), option(client, SO_DOMAIN));
    fcntl(client, F_SETFL, 0);
    struct timeval span = {0, 2000};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span);
    printf(", timed %s", error(recv(client, bytes, 1, 0)));
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    write(accepted, "abcdef", 6);
    int available;
    ioctl(client, FIONREAD, &available);
    printf(", peeked %zd of %d", recv(client, bytes, 3, MSG_PEEK), available);
    printf(", taken %zd\n", recv(client, bytes, 64, 0));
    write(client, "unread", 6);
    write(accepted, "last", 4);
    close(accepted);
    printf("reset %zd", recv(client, bytes, 64, 0));
    printf(" %s", error(recv(client, bytes, 64, 0)));
    printf(" %zd", recv(client, bytes, 64, 0));
    printf(", sent %s\n", error(send(client, "x", 1, MSG_NOSIGNAL)));
    close(client);
    client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, ADDRESS(address));
    accepted = accept(server, 0, 0);
    pthread_t writer;
    pthread_create(&writer, 0, send_much, (void *)(long)accepted);
    long sum = 0;
    for (ssize_t count; (count = recv(client, bytes, 64, 0)) > 0;) sum += count;
    void *sent;
    pthread_join(writer, &sent);
    polled = (struct pollfd){client, POLLIN | POLLOUT | POLLRDHUP, 0};
    poll(&polled, 1, 0);
    printf("much %ld %ld, half open %x", sum, (long)sent, polled.revents);
    shutdown(client, SHUT_WR);
    poll(&polled, 1, 0);
    printf(", shut %x %s\n", polled.revents, error(send(client, "x", 1, MSG_NOSIGNAL)));
    close(client), close(accepted);
    int other = socket(AF_INET, SOCK_STREAM, 0);
    printf("taken %s", error(bind(other, ADDRESS(address))));
    close(server);
    client = socket(AF_INET, SOCK_STREAM, 0);
    printf(", refused %s", error(connect(client, ADDRESS(address))));
    close(client);
    client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    printf(" %s", error(connect(client, ADDRESS(address))));
    polled = (struct pollfd){client, POLLOUT, 0};
    poll(&polled, 1, -1);
    printf(" %x %d", polled.revents & (POLLOUT | POLLERR), option(client, SO_ERROR) == ECONNREFUSED);
    printf(", no socket %s %s\n", error(listen(1, 1)), error(socket(AF_UNIX, SOCK_STREAM, 77)));
}

static void version_6(void)
{
    char host[64];
    int server = listener(AF_INET6, 4);
    struct sockaddr_in six_less = internet("127.0.0.1", port_of(server));
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port_of(server)), .sin6_addr = IN6ADDR_LOOPBACK_INIT}, told;
    socklen_t length = sizeof told;
    int one = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_INET6, SOCK_STREAM, 0);
    printf("from 4 %s, from 6 %s", error(connect(one, ADDRESS(six_less))), error(connect(other, ADDRESS(address))));
    for (int i = 0; i < 2; i++) {
        length = sizeof told;
        accept(server, (struct sockaddr *)&told, &length);
        printf(", %s", inet_ntop(AF_INET6, &told.sin6_addr, host, 64));
    }
    getpeername(other, (struct sockaddr *)&told, &length);
    printf(", peer %d\n", told.sin6_port == address.sin6_port);
}

static void datagrams(void)
{
    char bytes[16] = "", name[32];
    int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = internet("127.0.0.1", 0), told;
    socklen_t length = sizeof told;
    bind(one, ADDRESS(address));
    address.sin_port = htons(port_of(one));
    printf("sent %zd", sendto(other, "datagram", 8, 0, ADDRESS(address)));
    sendto(other, "", 0, 0, ADDRESS(address));
    struct iovec piece = {bytes, 4};
    struct msghdr header = {.msg_name = &told, .msg_namelen = length, .msg_iov = &piece, .msg_iovlen = 1};
    printf(", cut %zd", recvmsg(one, &header, MSG_TRUNC));
    printf(" %d %s from %s %d", !!(header.msg_flags & MSG_TRUNC), bytes, inet_ntop(AF_INET, &told.sin_addr, name, 32), told.sin_port == htons(port_of(other)));
    printf(", empty %zd", recvfrom(one, bytes, 16, 0, (struct sockaddr *)&told, &length));
    printf(", none %s", error(recv(one, bytes, 16, MSG_DONTWAIT)));
    connect(other, ADDRESS(address));
    close(one);
    printf(", gone %s", error(send(other, "x", 1, 0)));
    printf(" %s", error(send(other, "x", 1, 0)));
    printf(", long %s\n", error(sendto(other, bytes, 70000, 0, ADDRESS(address))));
}

static void local(void)
{
    char bytes[64] = "";
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    write(pair[0], "through", 7);
    printf("pair %zd %s", read(pair[1], bytes, 64), bytes);
    struct stat status;
    printf(", mode %d", (fstat(pair[0], &status), S_ISSOCK(status.st_mode)));
    struct pollfd polled = {pair[1], POLLIN | POLLOUT, 0};
    close(pair[0]);
    poll(&polled, 1, 0);
    printf(", closed %x %zd %s\n", polled.revents, read(pair[1], bytes, 1), error(send(pair[1], "x", 1, MSG_NOSIGNAL)));
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    write(pair[0], "first", 5);
    write(pair[0], "second", 6);
    memset(bytes, 0, 64);
    printf("kept apart %zd", read(pair[1], bytes, 64));
    printf(" %zd %s\n", read(pair[1], bytes, 64), bytes);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("no file %s", error(connect(client, ADDRESS(address))));
    printf(", bound %s", error(bind(server, ADDRESS(address))));
    printf(", early %s", error(connect(client, ADDRESS(address))));
    listen(server, 1);
    printf(", connected %s %d", error(connect(client, ADDRESS(address))), (stat("socket", &status), S_ISSOCK(status.st_mode)));
    struct sockaddr_un told;
    socklen_t length = sizeof told;
    getpeername(client, (struct sockaddr *)&told, &length);
    printf(", peer %s %d", told.sun_path, length);
    int again = socket(AF_UNIX, SOCK_STREAM, 0);
    printf(", again %s", error(bind(again, ADDRESS(address))));
    unlink("socket");
    strcpy(address.sun_path, "_abstract");
    address.sun_path[0] = 0;
    printf(", abstract %s", error(bind(again, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 9)));
    listen(again, 1);
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    printf(" %s\n", error(connect(other, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 9)));
}

static volatile int taken;

static void note(int signal)
{
    taken = signal;
}

int main(int count, char **words)
{
    if (count < 2 || chdir(words[1])) return 1;
    serve_clients();
    states();
    version_6();
    datagrams();
    local();
    int pair[2];
    signal(SIGPIPE, note);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    close(pair[1]);
    printf("broken %s", error(write(pair[0], "x", 1)));
    printf(", signal %d\n", taken);
    return 0;
}
