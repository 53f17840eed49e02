import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonOf, luaOf } from './lua-json.ts'
import { readLuaScript } from './lua-script.ts'
import { LuaError, LuaLimitError, toText } from './lua-value.ts'

/** Returns the values of an expression, or of a function's body. */
function valuesOf(body: string, ...args: unknown[]): unknown[] {
  const text = /\breturn\b/.test(body) ? body : `return ${body}`
  const script = readLuaScript(`function f(a, b, c)\n${text}\nend`)
  return script.call(
    'f',
    (run) => args.map((each) => luaOf(each, run)),
    (results, run) =>
      results.map((each) => (typeof each === 'string' ? toText(each) : jsonOf(each, [], run))),
  )
}

function assertValues(table: Readonly<Record<string, unknown>>): void {
  for (const [body, wanted] of Object.entries(table)) {
    const values = valuesOf(body)
    assert.deepEqual(values.length === 1 ? values[0] : values, wanted, body)
  }
}

test('numbers are computed and written as in Lua 5.1', () => {
  assertValues({
    '7 / 2': 3.5,
    '4 / 2 .. ""': '2',
    '-7 % 3': 2,
    '2 ^ 3 ^ 2': 512,
    '-2 ^ 2': -4,
    '"10" + 5': 15,
    '10 .. 20': '1020',
    '0x1F': 31,
    '1e15 .. ""': '1000000000000000',
    '0.1 .. ""': '0.1',
    '1e300 * 1e300 > 1e308': true,
    'tostring(1e21)': '1e+21',
    'tostring(0.00001)': '1e-05',
    'tonumber("0x10"), tonumber(" 12 "), tonumber("1,2"), tonumber("z", 36)': [
      16,
      12,
      undefined,
      35,
    ],
    'math.floor(3.7), math.max(1, 5, 3), math.huge > 1': [3, 5, true],
  })
})

test('names, blocks, loops and functions mean the same as in Lua 5.1', () => {
  assertValues({
    'local x = 1 do local x = 2 end return x': 1,
    'local x = 1 local x = x + 1 return x': 2,
    'local a, b, c = (function() return 1, 2, 3 end)() return a + b + c': 6,
    'local t = {(function() return 1, 2 end)(), (function() return 1, 2 end)()} return #t': 3,
    'local s = 0 for i = 10, 1, -3 do s = s + i end return s': 22,
    'local s = 0 repeat local d = s >= 3 s = s + 1 until d return s': 4,
    'local n = 0 while true do n = n + 1 if n > 4 then break end end return n': 5,
    'local r = {} for i = 1, 3 do r[i] = function() return i end end return r[1]() + r[3]()': 4,
    'local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end return fib(15)': 610,
    'local c = 0 local function up() c = c + 1 return c end up() return up()': 2,
    'local t = {n = 1} function t:add(k) self.n = self.n + k return self end return t:add(2):add(3).n': 6,
    'local a, b = 1, 2 a, b = b, a return a, b': [2, 1],
    'local function f(...) return select("#", ...), ... end return f(nil, nil)': [
      2,
      undefined,
      undefined,
    ],
    'return 1 == "1", nil == false, not nil, 1 and 2, nil or 3': [false, false, true, 2, 3],
    'local s = "" for k, v in pairs({1, 2, x = 3}) do s = s .. k .. v end return s': '1122x3',
    'local s = 0 for i, v in ipairs({4, 5, nil, 6}) do s = s + i * v end return s': 14,
    'local t = {1, 2, 3, x = 1} for k in pairs(t) do t[k] = nil end return next(t)': undefined,
    '#"caf\u00e9", ("caf\u00e9"):upper()': [5, 'CAF\u00e9'],
    '[==[a]]b]==] .. "\\65\\n" --[[ not this ]]': 'a]]bA\n',
  })
})

test('a table is a list as long as its elements are in a row', () => {
  assertValues({
    'local t = {} t[2] = "b" t[1] = "a" return #t, t': [2, ['a', 'b']],
    'local t = {1, 2, 3} t[#t] = nil return t': [1, 2],
    'local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t': [3, 2, 1],
    'local t = {1, 3} table.insert(t, 2, 2) table.insert(t, 4) return t': [1, 2, 3, 4],
    'local t = {1, 2, 3} return table.remove(t, 1), table.remove(t), t': [1, 3, [2]],
    'table.concat({1, "b", 3}, ", ", 2)': 'b, 3',
    'unpack({1, 2, 3}, 2)': [2, 3],
  })
})

test('texts are searched and replaced by patterns', () => {
  assertValues({
    '("10Gi"):match("^(%d+)(%a+)$")': ['10', 'Gi'],
    '("a.b.c"):gsub("%.", "-")': ['a-b-c', 2],
    '("hello world"):gsub("o", {o = "0"})': ['hell0 w0rld', 2],
    '("hello"):gsub("", "-")': ['-h-e-l-l-o-', 6],
    '("abc"):gsub("%w", "%0%0", 2)': ['aabbc', 2],
    '("k=v, x=y"):gsub("(%w+)=(%w+)", "%2=%1")': ['v=k, y=x', 2],
    '("f(a(b)c)d"):match("%b()")': '(a(b)c)',
    '("  trim  "):match("^%s*(.-)%s*$")': 'trim',
    '("a.b"):find(".", 1, true)': [2, 2],
    '("abc"):find("b()")': [2, 2, 3],
    '("[x]"):match("[%]]")': ']',
    '("key: value"):match("^([%w_-]+):%s*(.+)$")': ['key', 'value'],
    'local s = "" for w in ("one two"):gmatch("%a+") do s = s .. "<" .. w .. ">" end return s':
      '<one><two>',
    '("hello"):sub(-3, -2), ("x"):rep(3), ("abc"):reverse(), ("abc"):byte(2)': [
      'll',
      'xxx',
      'cba',
      98,
    ],
    'string.format("%5.2f|%-4d|%04d|%s|%q|%x|%%|%g", 3.14159, 7, 42, "x", "a\\"b", 255, 1e20)':
      ' 3.14|7   |0042|x|"a\\"b"|ff|%|1e+20',
  })
})

test('an error says in which line it is, and a script may catch it', () => {
  const message = (body: string): string => {
    try {
      valuesOf(body)
      return 'none'
    } catch (error) {
      assert.ok(error instanceof LuaError, String(error))
      return error.message
    }
  }
  const table: Readonly<Record<string, string>> = {
    'local a = nil\nreturn a.b': "line 3: attempt to index a nil value (looking for 'b')",
    'return 1 + {}': 'line 2: attempt to perform arithmetic on a table value',
    'return {} .. "x"': 'line 2: attempt to concatenate a table value',
    'return 1 < "2"': 'line 2: attempt to compare number with string',
    'return nothing()': 'line 2: attempt to call a nil value',
    'error("no luck") return 1': 'line 2: no luck',
    'return ("x"):rep({})': 'line 2: bad argument #2 to rep (number expected, got table)',
    'return setmetatable({}, {})':
      'line 2: function setmetatable is not available to scripts of interpreters',
    'return io.open("/etc/passwd")': "line 2: attempt to index a nil value (looking for 'open')",
    'return require("os")': 'line 2: module os not found',
    'return return': "line 2: unexpected symbol near 'return'",
    'x = = 1 return 1': "line 2: unexpected symbol near '='",
    'return "open': 'line 2: unfinished string',
  }
  for (const [body, wanted] of Object.entries(table)) assert.equal(message(body), wanted, body)
  assertValues({
    'pcall(error, {code = 7})': [false, { code: 7 }],
    'local ok, e = pcall(function() local x = nil; return x.y end) return ok, e ~= nil': [
      false,
      true,
    ],
    'return pcall(function(x) return x + 1 end, 1)': [true, 2],
    'return xpcall(function() error("a", 0) end, function(e) return e .. "!" end)': [false, 'a!'],
  })
})

const greedy: Readonly<Record<string, string>> = {
  loop: 'while true do end',
  'caught loop': 'pcall(function() while true do end end) return 1',
  recursion: 'local function f() return 1 + f() end return f()',
  'caught recursion': 'local function f() pcall(f) return f() end return f()',
  'recursion that is caught and over': 'local function f() return 1 + f() end pcall(f) return 1',
  'repetition that is caught and over': 'pcall(string.rep, "x", 1e12) return 1',
  doubling: 'local s = "x" while true do s = s .. s end',
  repetition: 'return ("x"):rep(1e12)',
  tables: 'local t = {} while true do t = {t, t, t, t, t, t, t, t} end',
  row: 'local t = {} for i = 1, 1e9 do t[i] = i end',
  backtracking: 'return ("a"):rep(3000):match(("a*"):rep(30) .. "b")',
  comparing: 'local a, b = ("x"):rep(8e6), ("x"):rep(8e6) while a == b do end',
  'long numbers': 'local a = ("1"):rep(8e6) while not tonumber(a) do end',
  'circle given back': 'local t = {} t.t = t return t',
}

test('a script that takes too much is stopped, and cannot catch that', () => {
  for (const [name, body] of Object.entries(greedy)) {
    assert.throws(
      () => valuesOf(`${body} return 1`.replace(/(return .*) return 1$/, '$1')),
      LuaLimitError,
      name,
    )
  }
})

test('scripts that are nested too deep are refused, not fatal', () => {
  const deep = '('.repeat(100_000)
  assert.throws(() => readLuaScript(`x = ${deep}`), LuaError)
  assert.throws(() => readLuaScript(`x = ${'1 + '.repeat(60_000)}1`), LuaError)
  assert.throws(() => readLuaScript(`x = ${'{'.repeat(60_000)}`), LuaError)
  assert.throws(() => readLuaScript(`--${'x'.repeat(300_000)}`), LuaError)
})

test('an empty table takes the type of the value before it', () => {
  const references = [{ spec: { labels: {}, items: [], rules: [{ match: {} }] } }]
  const script = readLuaScript(
    'function f(o) o.spec.added = {} o.spec.more = {{}, {1}} return o end',
  )
  const given = references[0]
  const found = script.call(
    'f',
    (run) => [luaOf(given, run)],
    ([result], run) => jsonOf(result, references, run),
  )
  assert.deepEqual(found, {
    spec: { labels: {}, items: [], rules: [{ match: {} }], more: [[1]] },
  })
})

test('a script returns plain data', () => {
  const wrong = [
    '{1, x = 2}',
    '{[1] = 1, [3] = 3}',
    '{[true] = 1}',
    '{f = function() end}',
    '{0 / 0}',
  ]
  for (const each of wrong) assert.throws(() => valuesOf(each), LuaError, each)
  const [found] = valuesOf('{["__proto__"] = {polluted = true}}')
  assert.deepEqual(Object.keys(found as object), ['__proto__'])
  assert.equal(Reflect.get({}, 'polluted'), undefined)
})

test('calls of one script share no state', () => {
  const script = readLuaScript('n = 0 function f() n = n + 1 string.rep = nil return n end')
  const call = () =>
    script.call(
      'f',
      () => [],
      ([n]) => n,
    )
  assert.deepEqual([call(), call()], [1, 1])
})
