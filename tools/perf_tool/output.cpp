#include "output.hpp"

#include "transport/html_report.hpp"
#include "transport/matrix_report.hpp"
#include "transport/svg_report.hpp"

#include <iostream>
#include <stdexcept>

namespace telegate::perf {

namespace {

void open_file(std::ofstream& file, const std::string& path) {
    if (path.empty()) {
        return;
    }
    file.open(path);
    if (!file) {
        throw std::runtime_error("cannot write " + path);
    }
}

void close_file(std::ofstream& file, const std::string& path) {
    if (file.is_open()) {
        file.close();
        if (!file) {
            throw std::runtime_error("cannot write all of " + path);
        }
    }
}

/// The one of two functions that prints such a result.
void print(std::ostream& out, const Command::Result& result, void (*report)(std::ostream&, const Report&),
           void (*matrix)(std::ostream&, const Matrix&)) {
    if (const auto* const found = std::get_if<Matrix>(&result)) {
        matrix(out, *found);
    } else {
        report(out, std::get<Report>(result));
    }
}

}  // namespace

void Output::add_options(CLI::App& app) {
    json_ = app.add_option("--json", json_path_, "JSON, to a file or else to stdout")->expected(0, 1);
    app.add_flag("--markdown", markdown_, "Tables for a page, to stdout");
    app.add_option("--html", html_path_, "A page with charts, to a file");
    app.add_option("--svg", svg_path_, "A picture of the ratios to libzmq, or else of the medians, to a file");
}

void Output::open() {
    open_file(json_file_, json_path_);
    open_file(html_file_, html_path_);
    open_file(svg_file_, svg_path_);
}

void Output::write(const Command::Result& result) {
    const bool json_to_stdout = json_->count() > 0 && json_path_.empty();
    if (json_->count() > 0) {
        print(json_to_stdout ? std::cout : json_file_, result, print_json, print_matrix_json);
    }
    if (!html_path_.empty()) {
        print(html_file_, result, print_html, print_matrix_html);
    }
    if (!svg_path_.empty()) {
        print(svg_file_, result, print_svg, print_matrix_svg);
    }
    close_file(json_file_, json_path_);
    close_file(html_file_, html_path_);
    close_file(svg_file_, svg_path_);
    if (markdown_) {
        print(std::cout, result, print_markdown, print_matrix_markdown);
    } else if (!json_to_stdout) {
        print(std::cout, result, print_text, print_matrix_text);
    }
}

}  // namespace telegate::perf
