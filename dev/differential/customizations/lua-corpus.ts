/**
 * Probes of Lua, seen through a status: each is the body of a function of `o`, a Deployment, that returns the
 * value to show.
 */
export const luaCorpus: Readonly<Record<string, string>> = Object.freeze({
  arithmetic: 'return { 7 / 2, 4 / 2, -7 % 3, 7 % -3, 2 ^ 10, -2 ^ 2, 2 ^ 3 ^ 2, 5 % 3.5 }',
  'numbers as texts':
    'return { 4 / 2 .. "", 0.1 .. "", 1e15 .. "", 2 ^ 53 .. "", -0.5 .. "", 10 .. 20 }',
  'large and small numbers':
    'return { tostring(1e21), tostring(1e100), tostring(0.00001), tostring(123456.789) }',
  'texts as numbers': 'return { "10" + 5, "3" * "4", "0x10" + 0, " 7 " + 1, 10 / "4" }',
  tonumber:
    'return { tonumber("12"), tonumber("1.5"), tonumber("ff", 16), tonumber("10", 2), tonumber("0x1f") }',
  'tonumber of nonsense':
    'return { a = tonumber("") == nil, b = tonumber("1x") == nil, c = tonumber({}) == nil }',
  comparison:
    'return { 1 < 2, "a" < "b", "Z" < "a", "10" < "9", 1 == 1.0, "1" == 1, nil == false }',
  logic:
    'return { a = nil and 1, b = false or "x", c = 1 and 2, d = not nil, e = not 0, f = nil or false }',
  precedence: 'return { 1 + 2 * 3, (1 + 2) * 3, not 1 == 2, 1 .. 2 == "12", -3 ^ 2, 2 * 3 % 4 }',
  concatenation: 'return { s = "a" .. "b" .. 1 .. 2.5 }',
  'length of texts': 'return { #"", #"abc", #"caf\u00e9", #"a\\0b" }',
  escapes: 'return { s = "tab\\tquote\\"back\\\\bell\\65\\066" }',
  'long texts': 'return { s = [[\nline [x]\nnext]], t = [==[a]]b]==] }',
  'single quotes': "return { s = 'it\\'s' }",
  comments: '-- one\n--[[ two\nlines ]] return { 1 } --[==[ three ]==]',
  'nested tables': 'return { a = { b = { c = { 1, 2, { d = "e" } } } } }',
  'keys of several forms': 'local k = "x" return { [k] = 1, ["y z"] = 2, w = 3, ["a.b/c:d"] = 4 }',
  'separators of fields': 'return { 1, 2; 3, }',
  'empty tables are left out': 'return { a = {}, b = { c = {} }, d = { {}, 1 } }',
  'length of a table': 'local t = { 1, 2, 3 } t[#t + 1] = 4 return { #t, t[4] }',
  'table with a hole at its end': 'local t = { 1, 2, 3 } t[3] = nil return { #t }',
  'elements out of order': 'local t = {} t[3] = "c" t[2] = "b" t[1] = "a" return t',
  'deleting while walking':
    'local t = { a = 1, b = 2, c = 3 } for k in pairs(t) do if k ~= "b" then t[k] = nil end end return t',
  'assigning several': 'local a, b, c = 1, 2 local d, e = b, a return { a, b, tostring(c), d, e }',
  swapping: 'local t = { 1, 2 } t[1], t[2] = t[2], t[1] return t',
  shadowing: 'local x = 1 do local x = 2 end local x = x + 10 return { x }',
  closures:
    'local r = {} for i = 1, 3 do r[i] = function() i = i + 10 return i end end return { r[1](), r[1](), r[2]() }',
  counters:
    'local function make() local n = 0 return function() n = n + 1 return n end end local a, b = make(), make() return { a(), a(), b() }',
  recursion:
    'local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end return { fact(10) }',
  'mutual recursion':
    'local even, odd function even(n) if n == 0 then return true end return odd(n - 1) end function odd(n) if n == 0 then return false end return even(n - 1) end return { even(10), odd(7), even(3) }',
  varargs:
    'local function f(...) local a, b = ... return select("#", ...), a, b end return { f(5, nil, 7) }',
  'varargs in a table': 'local function f(...) return { ... } end return f(1, 2, 3)',
  'select from the end': 'return { select(-2, "a", "b", "c") }',
  'many results': 'local function f() return 1, 2, 3 end return { f(), f() }',
  'results in parentheses': 'local function f() return 1, 2, 3 end return { (f()) }',
  methods:
    'local t = { n = 2 } function t:add(k) self.n = self.n + k return self end return { t:add(3):add(4).n }',
  'calls without parentheses':
    'local function f(x) return type(x) end return { f"s", f{ 1 }, #f[[x]] }',
  'while and break':
    'local n = 0 while true do n = n + 1 if n == 7 then break end end return { n }',
  repeat: 'local n = 0 repeat local done = n >= 4 n = n + 1 until done return { n }',
  'counting loops':
    'local r = {} for i = 10, 1, -4 do r[#r + 1] = i end for i = 1, 0 do r[#r + 1] = "never" end return r',
  'counting by fractions': 'local r = {} for i = 0, 1, 0.25 do r[#r + 1] = i end return r',
  ipairs: 'local s = 0 for i, v in ipairs({ 5, 6, nil, 8 }) do s = s + i * v end return { s }',
  'pairs in order':
    'local r = {} for k, v in pairs({ "a", "b", "c" }) do r[#r + 1] = k .. v end return r',
  next: 'local t = { x = 1 } local k, v = next(t) return { k, v, next({}) == nil }',
  'else if':
    'local function f(n) if n < 0 then return "neg" elseif n == 0 then return "zero" else return "pos" end end return { f(-1), f(0), f(1) }',
  types: 'return { type(nil), type(1), type("s"), type({}), type(print), type(true) }',
  tostring: 'return { tostring(nil), tostring(true), tostring(12), tostring(1.5), tostring("s") }',
  unpack: 'return { unpack({ 1, 2, 3 }, 2) }',
  'table.insert':
    'local t = { 1, 4 } table.insert(t, 2, 2) table.insert(t, 3, 3) table.insert(t, 5) return t',
  'table.remove':
    'local t = { 1, 2, 3, 4 } local a, b = table.remove(t, 1), table.remove(t) return { a, b, t }',
  'table.concat':
    'return { table.concat({ 1, 2, "x" }, "-"), table.concat({}), table.concat({ "a", "b", "c" }, ",", 2, 3) }',
  'table.sort':
    'local t = { 3, 1, 2 } table.sort(t) local u = { "b", "c", "a" } table.sort(u, function(x, y) return x > y end) return { t, u }',
  'table.getn': 'return { table.getn({ 1, 2 }), table.maxn({ 1, 2, [10] = 3 }) }',
  'string.sub':
    'return { ("hello"):sub(2), ("hello"):sub(-3), ("hello"):sub(2, -2), ("hello"):sub(0), ("hello"):sub(10), ("hello"):sub(3, 2) }',
  'string.find':
    'return { string.find("hello", "l"), string.find("hello", "xyz") == nil, (string.find("a.b", ".", 1, true)) }',
  'string.find with captures': 'return { string.find("key=val", "(%w+)=(%w+)") }',
  'string.match':
    'return { ("v1.36.3"):match("^v(%d+)%.(%d+)"), ("none"):match("%d") == nil, ("  x "):match("^%s*(.-)%s*$") }',
  'string.gmatch':
    'local r = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do r[k] = v end return r',
  'string.gsub':
    'return { ("hello"):gsub("l", "L"), (("hello"):gsub("l", "L", 1)), (("abc"):gsub("%w", "%0%0")), (("abc"):gsub("", "-")) }',
  'string.gsub by function':
    'return { (("a1b2"):gsub("%d", function(d) return d * 2 end)), (("$x $y"):gsub("%$(%w+)", { x = "X" })) }',
  'string.format':
    'return { string.format("%d %5.2f %s %q %x %%", 42, 3.14159, "x", "a\\"b", 255), string.format("%-5s|%5s|%05d", "a", "b", 7) }',
  'string.format of numbers':
    'return { string.format("%g", 1e20), string.format("%g", 0.1), string.format("%e", 12345.678), string.format("%d", 3) }',
  'string.rep and others':
    'return { ("ab"):rep(3), ("abc"):reverse(), ("aBc"):upper(), ("aBc"):lower(), ("abc"):len() }',
  'string.byte and char': 'return { ("A"):byte(), { ("abc"):byte(1, -1) }, string.char(72, 105) }',
  'classes of characters':
    'return { (("a1 _-.Z"):gsub("%a", "A")), (("a1 _-."):gsub("%W", "?")), (("a\\t b"):gsub("%s", "_")), (("x%y"):gsub("%%", "p")) }',
  'sets of characters':
    'return { ("a-b_c"):match("[%w_-]+"), ("abc"):match("[^b]+"), ("]x"):match("[]]") , ("b5"):match("[a-c][0-9]") }',
  'balanced match': 'return { ("f(a(b)c)d"):match("%b()"), ("x"):match("(x)()") }',
  'lazy and greedy':
    'return { ("<a><b>"):match("<(.-)>"), ("<a><b>"):match("<(.+)>"), ("ac"):match("ab?c"), ("aaa"):match("^(a*)a$") }',
  'back references': 'return { ("say \\"hi\\""):match("([\\"\'])(.-)%1") }',
  math: 'return { math.floor(-1.5), math.ceil(1.2), math.abs(-3), math.max(1, 9, 4), math.min(3, 2), math.sqrt(16), math.fmod(7, 3), math.pow(2, 5) }',
  'math.modf': 'return { math.modf(3.5) }',
  pcall:
    'local ok, e = pcall(function() error("no") end) return { ok, type(e), pcall(function() return 7 end) }',
  'error with a table': 'local ok, e = pcall(error, { code = 5 }) return { ok, e.code }',
  assert: 'return { (assert(1, "x")), (pcall(assert, false, "y")) }',
  xpcall:
    'local ok, e = xpcall(function() error("a", 0) end, function(m) return m .. "!" end) return { ok, e }',
  'unicode passes': 'return { s = o.metadata.labels.city, n = #o.metadata.labels.city }',
  'null is nothing': 'return { a = o.spec.nothing == nil, b = o.spec.paused == false }',
  'fields of the object':
    'return { o.kind, o.metadata.name, o.spec.replicas, o.spec.template.spec.containers[1].image }',
  'large whole numbers': 'return { 2 ^ 31, 2 ^ 40, 1234567890123 }',
  'global functions': 'function helper(x) return x * 2 end return { helper(21), _G.helper(1) }',
  'resources added':
    'local kube = require("kube") return { kube.resourceAdd("100m", "1"), kube.resourceAdd("1Gi", "512Mi"), kube.resourceAdd("1", nil) }',
  'resources as numbers':
    'local kube = require("kube") return { kube.getResourceQuantity("100m"), kube.getResourceQuantity("1Ki"), kube.getResourceQuantity(nil) }',
  'what a pod needs':
    'local kube = require("kube") return kube.accuratePodRequirements(o.spec.template)',
  'what a pod depends on':
    'local kube = require("kube") local d = kube.getPodDependencies(o.spec.template, o.metadata.namespace) table.sort(d, function(a, b) return a.kind .. a.name < b.kind .. b.name end) return { d = d }',
  'indexing nothing': 'return { o.gone.x }',
  'calling nothing': 'return { o.gone() }',
  'adding a table': 'return { 1 + {} }',
  'comparing kinds': 'return { 1 < "2" }',
  'concatenating nothing': 'return { "a" .. nil }',
  'an error of its own': 'error("broken")',
  'a list with holes': 'return { [1] = "a", [3] = "c" }',
  'keys of both kinds': 'return { 1, x = 2 }',
  'a function as data': 'return { f = print }',
  'no such library': 'return { io.open("x") }',
  'no metatables': 'return { setmetatable({}, {}) }',
  'no code at run time': 'return { loadstring("return 1")() }',
  'times that are given':
    'return { os.date("!%Y-%m-%dT%H:%M:%SZ", 0), os.date("!%F %H:%M", 86400 * 365), type(os.time()) }',
  'an unknown module': 'return { require("socket") }',
  'wrong quantity':
    'local kube = require("kube") return { (pcall(kube.resourceAdd, 1)), (pcall(kube.resourceAdd, "x")), (pcall(kube.getResourceQuantity, "-1")) }',
  'bad syntax': 'return { 1',
  'endless loop': 'while true do end',
})
