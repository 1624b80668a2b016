/// A loop device of the kernel over a file.
///
/// Idea       The ioctls of losetup(8).
/// Invariant  The device is free when the object goes; where somebody still holds it, when he lets go.
/// Cost       Two ioctls. Wants root.
/// Power cut  Keeps nothing.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace flashlab {

class LoopDevice {
public:
    enum class Caching : std::uint8_t { none, of_file };

    LoopDevice() = default;
    /// The first that is free. The error says which call the kernel refused.
    [[nodiscard]] static std::expected<LoopDevice, std::string> attach(const std::string& file, Caching caching);
    ~LoopDevice() { detach(); }
    LoopDevice(LoopDevice&& other) noexcept : path_{std::exchange(other.path_, {})} {}
    LoopDevice& operator=(LoopDevice&& other) noexcept {
        detach();
        path_ = std::exchange(other.path_, {});
        return *this;
    }

    /// /dev/loopN; empty: nothing is attached.
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    explicit LoopDevice(std::string path) : path_{std::move(path)} {}
    void detach();

    std::string path_;
};

} // namespace flashlab
