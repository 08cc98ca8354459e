// What an open crowd met, phase by phase and in windows of 100 ms, as JSON.
//
// Decided: answered with what became of the purchase, 202 or 409. A refusal that asks to come
// again later (429, 503) is an answer, but decides nothing.
// What happened is counted when it was answered; how long it took, by when it was due. A phase is over
// when the last who was due in it has been answered or has left: who comes later waits behind them.
#pragma once

#include <string>
#include <vector>

#include "load/open_drive.hpp"

namespace doorbuster::load {

std::string open_report(const std::vector<Phase>& phases, const Schedule& schedule, const OpenTally& tally);

}  // namespace doorbuster::load
