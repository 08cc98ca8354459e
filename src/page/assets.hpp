// What the pages are made of, as the build bundled it from web/page.
#pragma once

#include <string_view>

namespace doorbuster::assets {

std::string_view frame_html();    // of every page, the sandbox's among them
std::string_view site_html();     // what is the same in the pages that have a script
std::string_view sign_in_html();  // a part of these
std::string_view sale_html();
std::string_view sales_html();
std::string_view orders_html();
std::string_view closed_html();
std::string_view missing_html();

std::string_view sale_script();
std::string_view sales_script();
std::string_view orders_script();

std::string_view style();  // of every page

}  // namespace doorbuster::assets
