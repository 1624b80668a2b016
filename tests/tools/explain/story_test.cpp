// Goal: the picture that explain draws is what the cells hold, after each step, on every scheme.
// Method: the picture is made of events. Here each page is looked at in the array itself, and the newest copy of a logical page is the one with the
// highest write sequence. What is drawn as text is read back.
#include "tests/support/catch.h"

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "crash/crash_device.h"
#include "ftl/make_ftl.h"
#include "nand/page_oob.h"
#include "tools/explain/story.h"

using namespace flashlab;

namespace {

/// What the array says of a page.
struct Cell {
    CellState state = CellState::erased;
    std::optional<PageOob> oob;
};

Cell cell_of(CrashDevice& device, Ppn page) {
    const auto record = device.array().inspect(page);
    REQUIRE(record.has_value());
    const auto oob = PageOob::decode(record->oob);
    return {record->state, oob ? std::optional{*oob} : std::nullopt};
}

class Judge {
public:
    /// What is wrong with the frame; empty: nothing.
    std::string wrong_in(CrashDevice& device, const StoryFrame& frame) {
        const std::uint32_t pages = static_cast<std::uint32_t>(frame.blocks.front().pages.size());
        std::map<std::uint32_t, std::uint64_t> newest; // by logical page: its highest sequence
        std::map<std::uint32_t, std::vector<std::uint64_t>> drawn;
        for (std::uint32_t b = 0; b < frame.blocks.size(); ++b) {
            if (first_erases_.size() == b) first_erases_.push_back(device.array().erase_count(BlockId{b}));
            if (frame.blocks[b].erases != device.array().erase_count(BlockId{b}) - first_erases_[b]) return fmt::format("erases of block {}", b);
            if (frame.blocks[b].is_bad != device.array().is_bad(BlockId{b})) return fmt::format("block {}: bad or not", b);
            for (std::uint32_t p = 0; p < pages; ++p) {
                const PagePicture& picture = frame.blocks[b].pages[p];
                const Cell cell = cell_of(device, Ppn{b * pages + p});
                if (picture.mark != marks_of(cell).first && picture.mark != marks_of(cell).second)
                    return fmt::format("mark of block {} page {}", b, p);
                if (!cell.oob || cell.state != CellState::programmed) continue;
                if (picture.kind != static_cast<std::uint8_t>(cell.oob->kind)) return fmt::format("kind of block {} page {}", b, p);
                if (cell.oob->kind != PageKind::data) continue;
                const std::uint32_t lpn = cell.oob->lpn.value();
                if (picture.number != lpn) return fmt::format("number of block {} page {}", b, p);
                newest[lpn] = std::max(newest[lpn], cell.oob->sequence.value());
                if (picture.mark == PageMark::newest) drawn[lpn].push_back(cell.oob->sequence.value());
            }
        }
        for (const auto& [lpn, sequence] : newest) {
            if (trimmed.contains(lpn) != drawn[lpn].empty()) return fmt::format("page {}: {} newest copies", lpn, drawn[lpn].size());
            if (!drawn[lpn].empty() && drawn[lpn] != std::vector{sequence}) return fmt::format("page {}: another copy is the newest", lpn);
        }
        return {};
    }
    std::set<std::uint32_t> trimmed;

private:
    /// A page of data is drawn as newest or stale, one of the drive's own as own or stale.
    static std::pair<PageMark, PageMark> marks_of(const Cell& cell) {
        if (cell.state == CellState::erased) return {PageMark::free, PageMark::free};
        if (cell.state != CellState::programmed || !cell.oob) return {PageMark::damaged, PageMark::damaged};
        return {cell.oob->kind == PageKind::data ? PageMark::newest : PageMark::own, PageMark::stale};
    }
    std::vector<std::uint32_t> first_erases_; ///< before the first request
};

/// The story's frames against the flash. The last word of `wrong` names the step.
std::string told_wrongly(const std::string& script, StoryOptions options, const std::set<std::uint32_t>& trimmed_at_last = {}) {
    Judge judge;
    std::string wrong;
    options.look = [&](CrashDevice& device, const StoryFrame& frame) {
        if (!trimmed_at_last.empty() && frame.title.starts_with("trim")) judge.trimmed = trimmed_at_last;
        if (const std::string now = judge.wrong_in(device, frame); wrong.empty() && !now.empty()) wrong = now + " after " + frame.title;
    };
    const auto story = tell_story(script, options);
    return story ? wrong : story.error();
}

} // namespace

TEST_CASE("after each step each page is drawn as the cells hold it, and the newest copy is the one written last", "[explain]") {
    for (const std::string& scheme : all_schemes())
        for (const bool levels : {false, true}) {
            CAPTURE(scheme, levels);
            const StoryOptions options{.scheme = scheme, .levels_wear = levels};
            CHECK(told_wrongly("w0x8.r1x60.f.r2x60.W3.i.r3x30", options) == "");
        }
}

TEST_CASE("after a power cut the picture is that of the flash again, torn pages and all", "[explain]") {
    for (const std::string& scheme : all_schemes())
        for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
            CAPTURE(scheme, seed);
            const StoryOptions options{.scheme = scheme, .seed = seed};
            CHECK(told_wrongly("w0x8.f.r1x40.f.c.r4x30", options) == "");
        }
}

TEST_CASE("the power of a story fails while the step before is under way, not when it is over", "[explain]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        const auto story = tell_story("W0x8.c", {.scheme = scheme});
        REQUIRE(story.has_value());
        const StoryFrame& cut = story->frames[story->frames.size() - 2];
        REQUIRE(cut.title.find("the power fails") == 0);
        REQUIRE(!cut.lines.empty());
        CHECK(cut.lines.front().find("0 flash operations had not begun, 0 programs and 0 erases") == std::string::npos);
        unsigned undone = 0, programs = 0, erases = 0;
        REQUIRE(std::sscanf(cut.lines.front().c_str(), "%u flash operations had not begun; %u programs and %u erases", &undone, &programs, &erases) ==
                3);
        std::ptrdiff_t damaged = 0;
        for (const BlockPicture& block : cut.blocks) damaged += std::ranges::count(block.pages, PageMark::damaged, &PagePicture::mark);
        CHECK((damaged != 0) == (programs + erases != 0));
        if (erases == 0) CHECK(damaged == programs); // so few pages are torn, whatever else the picture says
    }
}

TEST_CASE("a trimmed page has stale copies only, until it is written again", "[explain]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        CHECK(told_wrongly("w0x8.r1x20.t2x3", {.scheme = scheme}, {2, 3, 4}) == "");
    }
}

TEST_CASE("the text of a picture says what the picture says", "[explain]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        const auto story = tell_story("w0x8.r1x40.t3.f.w1.c", {.scheme = scheme});
        REQUIRE(story.has_value());
        for (const StoryFrame& frame : story->frames) {
            std::string text = draw(*story, frame, 80);
            std::size_t block = 0;
            for (std::size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1), ++block) {
                REQUIRE(block < frame.blocks.size());
                const BlockPicture& picture = frame.blocks[block];
                const std::string head = text.substr(0, at).substr(text.substr(0, at).find_last_of("\n]") + 1);
                std::istringstream words{head + " " + text.substr(at + 1, text.find(']', at) - at - 1)};
                std::size_t number = 0;
                std::string erases;
                words >> number >> erases;
                CHECK(number == block);
                CHECK(erases == fmt::format("e{}", picture.erases));
                for (const PagePicture& page : picture.pages) {
                    std::string cell;
                    words >> cell;
                    if (picture.is_bad) {
                        CHECK(cell == "--");
                        continue;
                    }
                    CHECK((cell == ".") == (page.mark == PageMark::free));
                    CHECK((cell == "##") == (page.mark == PageMark::damaged));
                    CHECK((cell.front() == '(') == (page.mark == PageMark::stale));
                    if (page.mark == PageMark::newest) CHECK(cell == fmt::format("{}", page.number));
                    if (page.mark == PageMark::stale && page.kind == 1) CHECK(cell == fmt::format("({})", page.number));
                    if (page.mark == PageMark::own) CHECK((std::isalpha(static_cast<unsigned char>(cell.front())) != 0) != (cell == "~"));
                }
            }
            CHECK(block == frame.blocks.size());
        }
    }
}
