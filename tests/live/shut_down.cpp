// shut_down DIR: FS_IOC_SHUTDOWN on the file system of DIR.
#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: shut_down DIR\n");
        return 2;
    }
    const int directory = ::open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::uint32_t how = 0;
    if (directory < 0 || ::ioctl(directory, _IOR('X', 125, std::uint32_t), &how) != 0) {
        std::perror(argv[1]);
        return 1;
    }
    ::close(directory);
    return 0;
}
