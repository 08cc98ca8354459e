-- Continues book.lua: what reaches a book from PostgreSQL, and what is read from it. One library,
-- joined by CMake, so that both see the same local names.

-- The head of a book that had no units, or no slots, and may have some now. One too many makes somebody wait.
local function reopened_head(text, terms)
    local book = head_of(text)
    return packed_head(book.epoch, book.reopenings + 1, terms or part_of(text, terms_at))
end
local function add_reopening(changed, text)
    changed[#changed + 1] = 'head'
    changed[#changed + 1] = reopened_head(text)
end

-- ARGV: lease; then purchases, each named in a release row of this epoch. Their units, or their
-- slots, and their buyers' rights come back. Answers 1 for each, 0 if that was done before or the
-- purchase is unknown: nothing is ever returned twice.
local function release(keys, args)
    local fields = purchase_fields(args, 2, 1, {'head', 'figures'})
    if not fields then return malformed('purchases') end
    local stored = call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local total, available, units_held, units_sold, slots, sequence, last = struct_unpack(figures_form, stored[2])
    local book = head_of(stored[1])
    local was_shut = is_shut(book, total, available, slots)

    local takes, rights, right_fields = {}, {}, {}
    for i = 3, #fields do
        takes[fields[i]] = stored[i]
        if stored[i] then
            right_fields[#right_fields + 1] = 'b' .. part_of(stored[i], take_bytes + 1)
        end
    end
    if #right_fields > 0 then
        local found = call('HMGET', keys[1], unpack(right_fields))
        for i, field in ipairs(right_fields) do rights[field] = found[i] end
    end

    local answers, changed, has_changed = {}, {}, {}
    for i = 3, #fields do
        local field, take = fields[i], takes[fields[i]]
        local state, units = finished, 0
        if take then state, units = struct_unpack(take_form, take) end
        if state == finished then
            answers[#answers + 1] = 0
        else
            if state == open then
                slots = slots - units
            else
                available = available + units
                if state == held then units_held = units_held - units else units_sold = units_sold - units end
            end
            takes[field] = string.char(finished) .. part_of(take, 2)
            local right_field = 'b' .. part_of(take, take_bytes + 1)
            rights[right_field] = without_right(rights[right_field], units, part_of(field, 2))
            has_changed[right_field] = true
            changed[#changed + 1] = field
            changed[#changed + 1] = takes[field]
            answers[#answers + 1] = 1
        end
    end
    if #changed == 0 then return answers end
    local ended = {}
    for field in pairs(has_changed) do
        if rights[field] then
            changed[#changed + 1] = field
            changed[#changed + 1] = rights[field]
        else
            ended[#ended + 1] = field
        end
    end
    changed[#changed + 1] = 'figures'
    changed[#changed + 1] = struct_pack(figures_form, total, available, units_held, units_sold, slots, sequence, last)
    if was_shut then add_reopening(changed, stored[1]) end
    call('HSET', keys[1], unpack(changed))
    if #ended > 0 then call('HDEL', keys[1], unpack(ended)) end
    return answers
end

-- ARGV: lease; then purchases that are paid: held -> sold, open -> sold; what is sold stays so.
-- Answers 0 if one is finished or unknown, or open with no unit left for it.
local function sell(keys, args)
    local fields = purchase_fields(args, 2, 1, {'head', 'figures'})
    if not fields then return malformed('purchases') end
    local stored = call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local total, available, units_held, units_sold, slots, sequence, last = struct_unpack(figures_form, stored[2])
    local book = head_of(stored[1])
    local was_shut = is_shut(book, total, available, slots)

    local takes, answers, changed = {}, {}, {}
    for i = 3, #fields do takes[fields[i]] = stored[i] end
    for i = 3, #fields do
        local field, take = fields[i], takes[fields[i]]
        local state, units = finished, 0
        if take then state, units = struct_unpack(take_form, take) end
        if state == finished or (state == open and available < units) then
            answers[#answers + 1] = 0
        else
            if state ~= sold then
                if state == open then
                    available, slots = available - units, slots - units
                else
                    units_held = units_held - units
                end
                units_sold = units_sold + units
                takes[field] = string.char(sold) .. part_of(take, 2)
                changed[#changed + 1] = field
                changed[#changed + 1] = takes[field]
            end
            answers[#answers + 1] = 1
        end
    end
    if #changed == 0 then return answers end
    changed[#changed + 1] = 'figures'
    changed[#changed + 1] = struct_pack(figures_form, total, available, units_held, units_sold, slots, sequence, last)
    if was_shut and not is_shut(book, total, available, slots) then add_reopening(changed, stored[1]) end
    call('HSET', keys[1], unpack(changed))
    return answers
end

-- ARGV: lease, id of the release row, units. Answers 0 if that row was applied before.
local function restock(keys, args)
    if #args ~= 3 or args[2] == '' then return malformed('row') end
    local units = whole(args[3], 1, units_max)
    if not units then return malformed('units') end
    local row = 'r' .. args[2]
    local stored = call('HMGET', keys[1], 'head', 'figures', row)
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    if stored[3] then return 0 end
    local total, available, units_held, units_sold, slots, sequence, last = struct_unpack(figures_form, stored[2])
    local changed = {row, '', 'figures',
        struct_pack(figures_form, total + units, available + units, units_held, units_sold, slots, sequence, last)}
    if is_shut(head_of(stored[1]), total, available, slots) then add_reopening(changed, stored[1]) end
    call('HSET', keys[1], unpack(changed))
    return 1
end

-- args[first] ...: version, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max.
local function packed_terms(args, first)
    local most = {2 ^ 53, closed, 2 ^ 53, 2 ^ 53, 2 ^ 32 - 1, at_payment, 2 ^ 32 - 1}
    local numbers = {}
    for i = 1, #most do
        numbers[i] = whole(args[first + i - 1], 0, most[i])
        if not numbers[i] then return nil end
    end
    return struct_pack(terms_form, unpack(numbers))
end

-- ARGV: lease, the terms. The operator's word: an older version than the one that is there is
-- ignored, since calls may overtake each other. Answers whether it was taken. The stock policy stays
-- what it was loaded with.
local function set_state(keys, args)
    local terms = #args == 8 and packed_terms(args, 2)
    if not terms then return malformed('terms') end
    local stored = call('HMGET', keys[1], 'head', 'figures')
    local text = stored[1]
    local fault = fenced(args[1], text)
    if fault then return fault end
    local book = head_of(text)
    if tonumber(args[2]) <= book.version then return 0 end
    if tonumber(args[7]) ~= book.policy then return malformed('policy') end
    local total, available, _, _, slots = struct_unpack(figures_form, stored[2])
    local was_shut = is_shut(book, total, available, slots)
    local changed = part_of(text, 1, terms_at - 1) .. terms
    if was_shut and not is_shut(head_of(changed), total, available, slots) then
        changed = reopened_head(text, terms)
    end
    call('HSET', keys[1], 'head', changed)
    return 1
end

-- ARGV: epoch, the terms, total, available, held, sold; then purchase and take (state, units, epoch,
-- sequence, accepted_at, buyer) of everybody whom PostgreSQL knows, finished ones too: a repeated key
-- must not take a second unit. One call, so that nobody sees half a book; refused unless what is
-- there is older, so that a coordinator who was thought dead undoes nothing. The old outbox goes: it
-- was drained, or its epoch is sealed. Answers the pin.
local function load(keys, args)
    local epoch = whole(args[1], 1, 2 ^ 53)
    local terms = packed_terms(args, 2)
    local total, available = whole(args[9], 0, 2 ^ 32 - 1), whole(args[10], 0, 2 ^ 32 - 1)
    local units_held, units_sold = whole(args[11], 0, 2 ^ 32 - 1), whole(args[12], 0, 2 ^ 32 - 1)
    if not epoch or not terms then return malformed('terms') end
    if not total or not available or not units_held or not units_sold or
        available + units_held + units_sold ~= total then
        return malformed('stock')
    end
    if #args % 2 ~= 0 then return malformed('takes') end

    local fields, rights, slots, last = {'head', packed_head(epoch, 0, terms)}, {}, 0, 0
    for at = 13, #args, 2 do
        local purchase, take = args[at], args[at + 1]
        if #purchase ~= id_bytes or #take <= take_bytes or #take > take_bytes + buyer_bytes_max then
            return malformed('take')
        end
        local state, units, _, _, accepted_at = struct_unpack(take_form, take)
        if state > open or units < 1 then return malformed('take') end
        last = math.max(last, accepted_at)
        if state == open then slots = slots + units end
        if state ~= finished then
            local buyer = 'b' .. part_of(take, take_bytes + 1)
            rights[buyer] = with_right(rights[buyer], units, purchase)
        end
        fields[#fields + 1] = 'p' .. purchase
        fields[#fields + 1] = take
        fields[#fields + 1] = 'l' .. (at - 11) / 2
        fields[#fields + 1] = purchase
    end
    fields[#fields + 1] = 'loaded'
    fields[#fields + 1] = (#args - 12) / 2
    for buyer, right in pairs(rights) do
        fields[#fields + 1] = buyer
        fields[#fields + 1] = right
    end

    local stored = call('HMGET', keys[1], 'head', 'figures')
    if stored[1] and head_of(stored[1]).epoch >= epoch then
        return failure(text_of('NEWER epoch %d', head_of(stored[1]).epoch))
    end
    if stored[2] then
        local _, _, _, _, _, _, last_before = struct_unpack(figures_form, stored[2])
        last = math.max(last, last_before)
    end
    fields[#fields + 1] = 'figures'
    fields[#fields + 1] = struct_pack(figures_form, total, available, units_held, units_sold, slots, 0, last)
    call('UNLINK', keys[1], keys[2])
    for first = 1, #fields, 2 * entries_max do
        call('HSET', keys[1], unpack(fields, first, math.min(first + 2 * entries_max - 1, #fields)))
    end
    return pin_now()
end

-- No ARGV. Answers the pin, then, where there is a book: epoch, terms, figures, entries in the outbox, how many
-- purchases were loaded, when the last one was taken, in ms, 0 where none was in this epoch; and how often the book
-- was reopened.
-- Not fenced: this is how somebody without a lease learns what is there.
local function peek(keys)
    local stored = call('HMGET', keys[1], 'head', 'figures', 'loaded')
    if not stored[1] then return {pin_now()} end
    local book = head_of(stored[1])
    local _, _, _, _, _, sequence = struct_unpack(figures_form, stored[2])
    local taken_at = 0
    if sequence > 0 then
        local last = call('HGET', keys[1], 'p' .. call('HGET', keys[1], outbox_id(book, sequence)))
        local _, _, _, _, accepted_at = struct_unpack(take_form, last)
        taken_at = accepted_at
    end
    return {pin_now(), book.epoch, part_of(stored[1], terms_at), stored[2], call('XLEN', keys[2]),
        tonumber(stored[3]), taken_at, book.reopenings}
end

-- ARGV: lease, how many are known already, count at most. All purchases that the book knows have a place:
-- those that were loaded, then those that were taken, by their sequence. Answers purchase and buyer in one of
-- each behind the known.
local function winners(keys, args)
    local after, count = whole(args[2], 0, 2 ^ 53), whole(args[3], 1, entries_max)
    if not after or not count then return malformed('range') end
    local stored = call('HMGET', keys[1], 'head', 'loaded')
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local book, loaded = head_of(stored[1]), tonumber(stored[2])
    local places = {}
    for place = after + 1, after + count do
        places[#places + 1] = place <= loaded and 'l' .. place or outbox_id(book, place - loaded)
    end
    local fields = {}
    for _, purchase in ipairs(call('HMGET', keys[1], unpack(places))) do
        if not purchase then break end  -- there are no more
        fields[#fields + 1] = 'p' .. purchase
    end
    if #fields == 0 then return {} end
    local answers = call('HMGET', keys[1], unpack(fields))
    for i, take in ipairs(answers) do answers[i] = part_of(fields[i], 2) .. part_of(take, take_bytes + 1) end
    return answers
end

-- ARGV: lease; then purchases. Answers for each whether it is pending, and the take; '' where it is
-- unknown.
local function find(keys, args)
    local fields = purchase_fields(args, 2, 1, {'head'})
    if not fields then return malformed('purchases') end
    local stored = call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local answers = {}
    for i = 2, #fields do
        answers[#answers + 1] = ''
        if stored[i] then
            local _, _, epoch, sequence = struct_unpack(take_form, stored[i])
            answers[#answers] = (is_pending(keys[2], head_of(stored[1]), epoch, sequence) and '\1' or '\0') .. stored[i]
        end
    end
    return answers
end

-- ARGV: lease, ms that an entry must have waited, sequence to begin behind, count at most; then the time, if one
-- is handed in. Answers purchase, take, and the purchase that it replaces or '', of each entry.
local function outbox(keys, args)
    local age, after, count = whole(args[2], 0, 2 ^ 53), whole(args[3], 0, 2 ^ 53), whole(args[4], 1, entries_max)
    if not age or not after or not count then return malformed('range') end
    local text = call('HGET', keys[1], 'head')
    local fault = fenced(args[1], text)
    if fault then return fault end
    local now = now_ms(args[5])
    local answers = {}
    local found = call('XRANGE', keys[2], '(' .. outbox_id(head_of(text), after), '+', 'COUNT', count)
    for _, entry in ipairs(found) do
        local values = entry[2]
        local _, _, _, _, accepted_at = struct_unpack(take_form, values[2])
        local waited = now - accepted_at
        -- Those behind it are younger still. From the future: the clock was set back, and nobody knows how long.
        if waited >= 0 and waited < age then break end
        answers[#answers + 1] = values[1]
        answers[#answers + 1] = values[2]
        answers[#answers + 1] = values[4] or ''
    end
    return answers
end

local function with_names(callback)
    return function(keys, args)
        if not call then take_names() end
        return callback(keys, args)
    end
end

local function register(name, callback, flags)
    redis.register_function{function_name = 'doorbuster_' .. name, callback = callback, flags = flags}
end
local reads = {'no-writes'}
register('reserve', reserve, {})  -- takes them itself: one Lua call less for each purchase
register('done', with_names(done), {'allow-oom'})  -- frees memory, so it also runs where there is none left
register('release', with_names(release), {})
register('sell', with_names(sell), {})
register('restock', with_names(restock), {})
register('set_state', with_names(set_state), {})
register('load', with_names(load), {})
register('peek', with_names(peek), reads)
register('winners', with_names(winners), reads)
register('find', with_names(find), reads)
register('outbox', with_names(outbox), reads)
