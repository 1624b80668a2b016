/// The screen of `flashlab top`, and of replay and bench with --top: 80 x 24 and larger.
///
/// Idea       Lines of text are made first, for a given size; curses only puts them on the screen. So the layout is tested without a terminal.
/// Invariant  No line is longer than the screen is wide, and there are no more lines than rows. The terminal is as it was when the object goes.
/// Cost       A few kilobytes of text a second.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

/// What the screen calls the thing that it shows.
struct TopText {
    std::string title;
    std::string place;    ///< empty: none
    std::string since;    ///< what totals count from: "mount", "run"
    std::string progress; ///< a line of its own; empty: none
};

/// `about`: the answer to info. `sample`: tools/live/mount_sample.h. `blocks`: tools/drive/block_report.h.
[[nodiscard]] std::vector<std::string> top_lines(const TopText& text, const Json& about, const Json& sample, const Json& blocks, std::size_t columns,
                                                 std::size_t rows);

class TopScreen {
public:
    /// Draws on `output`, and takes keys from `input`. Both must outlive the screen. Null: the terminal is of a kind that nobody knows here
    /// (known_terminal.h).
    [[nodiscard]] static std::unique_ptr<TopScreen> make(std::FILE* output, std::FILE* input);
    ~TopScreen();
    TopScreen(const TopScreen&) = delete;
    TopScreen& operator=(const TopScreen&) = delete;

    [[nodiscard]] std::size_t columns() const;
    [[nodiscard]] std::size_t rows() const;
    void show(const std::vector<std::string>& lines);
    /// Waits so long at most. False: the user wants to go (q).
    [[nodiscard]] bool wait(double seconds);
    /// The same without waiting: true after a q.
    [[nodiscard]] bool was_asked_to_go();

private:
    explicit TopScreen(void* terminal) : terminal_{terminal} {}
    void* terminal_; ///< curses' SCREEN
};

} // namespace flashlab
