// A story as JSON, and its flash as text.
#include <algorithm>

#include <fmt/format.h>

#include "tools/explain/story.h"

namespace flashlab {

namespace {

constexpr const char* kind_letters = "??TCJSB~"; ///< by nand/page_oob.h's PageKind

std::string letter_of(const PagePicture& page) {
    const char letter = page.kind < 8 ? kind_letters[page.kind] : '?';
    return letter == 'T' ? fmt::format("T{}", page.number) : std::string(1, letter);
}

std::string cell_of(const PagePicture& page) {
    switch (page.mark) {
    case PageMark::free:
        return ".";
    case PageMark::newest:
        return fmt::format("{}", page.number);
    case PageMark::stale:
        return page.kind <= 1 ? fmt::format("({})", page.number) : fmt::format("({})", letter_of(page));
    case PageMark::own:
        return letter_of(page);
    case PageMark::damaged:
        return "##";
    }
    return "?";
}

const char* name_of(PageMark mark) {
    constexpr const char* names[] = {"free", "newest", "stale", "own", "damaged"};
    return names[static_cast<std::size_t>(mark)];
}

Json to_json(const BlockPicture& block) {
    Json pages{Json::Array{}};
    for (const PagePicture& page : block.pages) {
        Json cell = Json::object({{"mark", name_of(page.mark)}, {"text", page.mark == PageMark::free ? "" : cell_of(page)}});
        if (page.mark == PageMark::newest || (page.mark == PageMark::stale && page.kind <= 1)) cell.add("page", page.number);
        pages.push(std::move(cell));
    }
    return Json::object({{"erases", block.erases}, {"bad", block.is_bad}, {"pages", std::move(pages)}});
}

} // namespace

Json to_json(const StoryTotals& t) {
    return Json::object({{"host_pages_written", t.host_pages},
                         {"nand_page_programs", t.nand_programs},
                         {"nand_page_reads", t.nand_reads},
                         {"nand_block_erases", t.nand_erases},
                         {"page_copies", t.copies},
                         {"collections", t.collections},
                         {"merges_switch", t.merges_switch},
                         {"merges_partial", t.merges_partial},
                         {"merges_full", t.merges_full},
                         {"pram_words_written", t.pram_words},
                         {"waf", t.host_pages == 0 ? Json{} : Json{static_cast<double>(t.nand_programs) / static_cast<double>(t.host_pages)}}});
}

Json to_json(const Story& story) {
    Json frames{Json::Array{}};
    for (const StoryFrame& frame : story.frames) {
        Json lines{Json::Array{}}, blocks{Json::Array{}};
        for (const std::string& line : frame.lines) lines.push(line);
        for (const BlockPicture& block : frame.blocks) blocks.push(to_json(block));
        frames.push(
            Json::object({{"title", frame.title}, {"lines", std::move(lines)}, {"totals", to_json(frame.totals)}, {"blocks", std::move(blocks)}}));
    }
    return Json::object({{"ftl", story.scheme},
                         {"blocks", story.blocks},
                         {"pages_per_block", story.pages_per_block},
                         {"logical_pages", story.units},
                         {"totals", to_json(story.frames.back().totals)},
                         {"steps", std::move(frames)}});
}

std::string draw(const Story& story, const StoryFrame& frame, std::size_t columns) {
    std::size_t width = 2;
    for (const StoryFrame& any : story.frames)
        for (const BlockPicture& block : any.blocks)
            for (const PagePicture& page : block.pages) width = std::max(width, cell_of(page).size());
    const std::size_t block_width = 9 + story.pages_per_block * (width + 1) + 2;
    const std::size_t in_a_row = std::max<std::size_t>(1, (columns + 2) / block_width);
    std::string text;
    for (std::size_t b = 0; b < frame.blocks.size(); ++b) {
        const BlockPicture& block = frame.blocks[b];
        std::string cells;
        for (const PagePicture& page : block.pages) cells += fmt::format(" {:>{}}", block.is_bad ? "--" : cell_of(page), width);
        text += fmt::format("{:>3} e{:<2}[{}]", b, block.erases, cells);
        text += b + 1 == frame.blocks.size() || (b + 1) % in_a_row == 0 ? "\n" : "  ";
    }
    return text;
}

std::string legend() {
    return "3 e2[ 7 (5) . ##]: block 3, erased twice since the beginning: newest copy of\n"
           "page 7, stale copy of page 5, a free page, one that a power cut damaged.\n"
           "T0: translation page 0, C: checkpoint of the map, J: journal, S: summary,\n"
           "B: backup, ~: padding\n";
}

} // namespace flashlab
