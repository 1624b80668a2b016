#include "base/whole_file_lock.h"

#include <fcntl.h>
#include <unistd.h>

namespace flashlab {

int lock_whole_file(int fd, WholeFileLock lock) {
    struct flock whole {};
    whole.l_type = lock == WholeFileLock::exclusive ? F_WRLCK : F_RDLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(fd, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

} // namespace flashlab
