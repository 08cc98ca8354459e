// What makes a picture hard for a program: waves that bend it, lines that cross it.
#pragma once

#include "funnel/dice.hpp"
#include "funnel/ink_sheet.hpp"

namespace doorbuster {

void bend(InkSheet&, Dice&);

// A cut in the paper's colour takes letters apart, lines of ink join them: what stands together
// no longer is a letter.
void clutter(InkSheet&, Dice&);

}  // namespace doorbuster
