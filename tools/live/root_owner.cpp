#include "tools/live/root_owner.h"

#include <ctime>

#include <unistd.h>

namespace flashlab {

void take_new_root(FileSystem& fs, SimTime now) {
    if (::geteuid() == 0) return;
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    const FsCall call{.now = now, .wall = {.seconds = wall.tv_sec, .nanoseconds = static_cast<std::uint32_t>(wall.tv_nsec)}};
    const auto root = fs.attributes(call, root_ino);
    if (!root || root->value.uid != 0) return;
    bool is_empty = true;
    const auto listed = fs.read_directory(call, root_ino, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
        is_empty = name == "." || name == "..";
        return is_empty;
    });
    if (!listed || !is_empty) return;
    AttributeChange change;
    change.which = AttributeChange::uid | AttributeChange::gid;
    change.new_uid = ::geteuid();
    change.new_gid = ::getegid();
    static_cast<void>(fs.change_attributes(call, root_ino, change));
}

} // namespace flashlab
