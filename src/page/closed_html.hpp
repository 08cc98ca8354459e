// The page that stands in for all others while nobody is let in. It has no script: nothing is
// there for one to talk to.
#pragma once

#include <string_view>

namespace doorbuster {

constexpr std::string_view closed_html =
    R"(<!doctype html><html lang="{{lang}}"><head><meta charset="utf-8"><title>{{title}}</title>)"
    R"(<meta name="viewport" content="width=device-width,initial-scale=1">)"
    R"(<meta name="description" content="{{summary}}"><link rel="icon" href="data:,">)"
    R"(<style>{{style}}</style></head><body><main data-state="closed"><section class="goods"><h1>{{title}}</h1></section>)"
    R"(<div class="panel"><div class="stage"><div class="door"></div>)"
    R"(<p>Please come back later. What you have bought is yours.</p>)"
    R"(<p lang="zh-Hans">暂时关闭，请稍后再来。您已购买的商品不受影响。</p>)"
    R"(<p lang="zh-Hant">暫時關閉，請稍後再來。您已購買的商品不受影響。</p></div></div></main></body></html>)";

}  // namespace doorbuster
