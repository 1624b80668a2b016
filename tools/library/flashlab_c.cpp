#include "tools/library/flashlab.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "tools/library/lab_device.h"

using flashlab::LabError;

struct flashlab_device {
    std::unique_ptr<flashlab::LabDevice> lab;
    std::string why;
};

namespace {

int code_of(const std::expected<void, LabError>& result) {
    if (result) return FLASHLAB_OK;
    switch (result.error()) {
    case LabError::power_lost:
        return FLASHLAB_POWER_LOST;
    case LabError::unreadable:
        return FLASHLAB_UNREADABLE;
    case LabError::out_of_range:
        return FLASHLAB_OUT_OF_RANGE;
    case LabError::no_space:
        return FLASHLAB_NO_SPACE;
    case LabError::read_only:
        return FLASHLAB_READ_ONLY;
    case LabError::failed:
        break;
    }
    return FLASHLAB_FAILED;
}

/// Nothing is thrown into C.
template <class Work>
int guarded(flashlab_device* device, const Work& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        device->why = error.what();
    }
    return FLASHLAB_FAILED;
}

void put_text(const std::string& text, char* to, std::size_t bytes) {
    if (to == nullptr || bytes == 0) return;
    const std::size_t length = std::min(text.size(), bytes - 1);
    std::memcpy(to, text.data(), length);
    to[length] = '\0';
}

} // namespace

flashlab_device* flashlab_make(const char* preset, const char* const* settings, size_t settings_count, uint64_t bytes, char* why, size_t why_bytes) {
    try {
        flashlab::LabOptions options;
        if (preset != nullptr) options.preset = preset;
        for (size_t i = 0; i < settings_count; ++i) options.settings.emplace_back(settings[i]);
        if (bytes != 0) options.bytes = bytes;
        auto lab = flashlab::LabDevice::make(options);
        if (lab) return new flashlab_device{std::move(*lab), {}};
        put_text(lab.error(), why, why_bytes);
    } catch (const std::bad_alloc&) {
        put_text("there is not enough memory for it", why, why_bytes);
    } catch (const std::exception& error) {
        put_text(error.what(), why, why_bytes);
    }
    return nullptr;
}

void flashlab_free(flashlab_device* device) { delete device; }
uint64_t flashlab_sectors(const flashlab_device* device) { return device->lab->sectors(); }

int flashlab_read(flashlab_device* device, uint64_t first, uint32_t sectors, void* to) {
    const std::span bytes{static_cast<std::byte*>(to), std::size_t{sectors} * FLASHLAB_SECTOR_BYTES};
    return guarded(device, [&] { return code_of(device->lab->read(first, bytes)); });
}
int flashlab_write(flashlab_device* device, uint64_t first, uint32_t sectors, const void* from) {
    const std::span bytes{static_cast<const std::byte*>(from), std::size_t{sectors} * FLASHLAB_SECTOR_BYTES};
    return guarded(device, [&] { return code_of(device->lab->write(first, bytes)); });
}
int flashlab_trim(flashlab_device* device, uint64_t first, uint64_t sectors) {
    return guarded(device, [&] { return code_of(device->lab->trim(first, sectors)); });
}
int flashlab_flush(flashlab_device* device) {
    return guarded(device, [&] { return code_of(device->lab->flush()); });
}
int flashlab_wait(flashlab_device* device, uint64_t ns) {
    return guarded(device, [&] { return code_of(device->lab->wait(ns)); });
}
uint64_t flashlab_now_ns(const flashlab_device* device) { return device->lab->now_ns(); }

void flashlab_cut_at(flashlab_device* device, uint64_t at_ns, uint64_t seed) {
    (void)guarded(device, [&] {
        device->lab->cut_at(at_ns, seed);
        return 0;
    });
}
int flashlab_has_power(const flashlab_device* device) { return device->lab->has_power() ? 1 : 0; }
int flashlab_recover(flashlab_device* device) {
    return guarded(device, [&] {
        const auto done = device->lab->recover();
        if (done) return int{FLASHLAB_OK};
        device->why = done.error();
        return int{FLASHLAB_FAILED};
    });
}

void flashlab_note_instants(flashlab_device* device) {
    (void)guarded(device, [&] {
        device->lab->note_instants();
        return 0;
    });
}
size_t flashlab_instants(flashlab_device* device, uint64_t* to, size_t room) {
    size_t count = 0;
    (void)guarded(device, [&] {
        const auto instants = device->lab->instants();
        std::ranges::copy_n(instants.begin(), static_cast<std::ptrdiff_t>(std::min(room, instants.size())), to);
        count = instants.size();
        return 0;
    });
    return count;
}

void flashlab_get_statistics(const flashlab_device* device, struct flashlab_statistics* to) {
    const flashlab::LabStatistics s = device->lab->statistics();
    *to = {.now_ns = s.now_ns,
           .host_read_bytes = s.host_read_bytes,
           .host_write_bytes = s.host_write_bytes,
           .nand_page_reads = s.nand_page_reads,
           .nand_page_programs = s.nand_page_programs,
           .nand_block_erases = s.nand_block_erases,
           .page_bytes = s.page_bytes,
           .power_cuts = s.power_cuts,
           .operations_torn = s.operations_torn,
           .operations_undone = s.operations_undone,
           .erase_count_min = s.erase_count_min,
           .erase_count_max = s.erase_count_max,
           .erase_count_mean = s.erase_count_mean,
           .waf = s.waf};
}

int flashlab_check(flashlab_device* device) {
    return guarded(device, [&] {
        const auto problems = device->lab->check();
        if (!problems.empty()) device->why = problems.front();
        return static_cast<int>(problems.size());
    });
}
const char* flashlab_why(const flashlab_device* device) { return device->why.c_str(); }
const char* flashlab_version(void) { return FLASHLAB_VERSION; }
