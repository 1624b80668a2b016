// shut_down DIR [KIND]: FS_IOC_SHUTDOWN on the file system of DIR. KIND says what is durable before it: 0 all (default), 1 the names, 2 nothing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: shut_down DIR [KIND]\n");
        return 2;
    }
    const int directory = ::open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto how = static_cast<std::uint32_t>(argc == 3 ? std::atoi(argv[2]) : 0);
    if (directory < 0 || ::ioctl(directory, _IOR('X', 125, std::uint32_t), &how) != 0) {
        std::perror(argv[1]);
        return 1;
    }
    ::close(directory);
    return 0;
}
