#include "crash/apps/history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::string_view head = "FLASHLAB HISTORY 1\n";
constexpr std::size_t fixed_bytes = 1 + 6 * 8 + 4 + 3 * 4;

/// How many lines had come when line `i`, a sync or a close, began.
std::uint64_t began(const std::vector<Operation>& history, std::uint64_t i) { return i - std::min(i, history[i].bytes); }

} // namespace

std::vector<Operation> closes_first(std::vector<Operation> history) {
    const auto is_late = [](const Operation& line) { return line.act == Act::close && line.bytes != 0; };
    if (std::ranges::none_of(history, is_late)) return history;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order; // twice its place, or of a late close just before the line that it goes before; line
    order.reserve(history.size());
    for (std::uint64_t i = 0; i < history.size(); ++i) order.emplace_back(is_late(history[i]) ? 2 * began(history, i) : 2 * i + 1, i);
    std::ranges::sort(order);
    std::vector<Operation> ordered;
    ordered.reserve(history.size());
    for (const auto& [place, i] : order) {
        const std::uint64_t began_at = began(history, i);
        Operation& line = ordered.emplace_back(std::move(history[i]));
        if (line.act == Act::close) line.bytes = 0;
        if (!is_sync(line.act) || line.bytes == 0) continue;
        const auto first = std::ranges::lower_bound(order, 2 * began_at + 1, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
        line.bytes = ordered.size() - 1 - static_cast<std::uint64_t>(first - order.begin());
    }
    return ordered;
}

std::string history_head() { return std::string{head}; }

void append_record(std::string& to, const Operation& operation) {
    std::array<std::byte, fixed_bytes> fixed{};
    LittleEndianWriter writer{fixed};
    writer.u8(static_cast<std::uint8_t>(operation.act));
    for (const std::uint64_t word : {operation.at_ms, operation.ino, operation.parent, operation.to_parent, operation.offset, operation.bytes})
        writer.u64(word);
    writer.u32(operation.mode);
    for (const std::string* text : {&operation.name, &operation.to_name, &operation.data}) writer.u32(static_cast<std::uint32_t>(text->size()));
    to.append(reinterpret_cast<const char*>(fixed.data()), fixed.size());
    for (const std::string* text : {&operation.name, &operation.to_name, &operation.data}) to += *text;
}

std::expected<std::vector<Operation>, std::string> read_history(std::string_view text) {
    if (!text.starts_with(head)) return std::unexpected("is no recorded history");
    text.remove_prefix(head.size());
    std::vector<Operation> history;
    while (text.size() >= fixed_bytes) {
        LittleEndianReader reader{std::as_bytes(std::span{text.data(), fixed_bytes})};
        Operation operation;
        const std::uint8_t act = reader.u8();
        if (act > static_cast<std::uint8_t>(Act::promise)) return std::unexpected("has a record of a kind that this version does not know");
        operation.act = static_cast<Act>(act);
        for (std::uint64_t* word : {&operation.at_ms, &operation.ino, &operation.parent, &operation.to_parent, &operation.offset, &operation.bytes})
            *word = reader.u64();
        operation.mode = reader.u32();
        std::array<std::size_t, 3> lengths{};
        for (std::size_t& length : lengths) length = reader.u32();
        text.remove_prefix(fixed_bytes);
        if (text.size() < lengths[0] + lengths[1] + lengths[2]) break;
        std::size_t i = 0;
        for (std::string* field : {&operation.name, &operation.to_name, &operation.data}) {
            field->assign(text.substr(0, lengths[i]));
            text.remove_prefix(lengths[i++]);
        }
        history.push_back(std::move(operation));
    }
    return history;
}

} // namespace flashlab
