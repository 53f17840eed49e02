import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonOf, luaOf } from './lua-json.ts'
import { readLuaScript } from './lua-script.ts'
import { LuaError, LuaLimitError } from './lua-value.ts'

const words =
  'and break do else elseif end false for function if in local nil not or repeat return then true until while x y f string table math pcall error pairs next unpack select tostring _G # + - * / % ^ == ~= <= < ( ) { } [ ] ; : , . .. ... = 0 1 2.5 1e308 "a" "%b" "(" [[x]] -- \n'.split(
    ' ',
  )

/** A script may be invalid, fail, or exceed its limits; nothing else happens. */
function play(text: string): void {
  try {
    const script = readLuaScript(`local x, y = 1, {2, a = 3}\n${text}\nfunction f(o) return o end`)
    script.call(
      'f',
      (run) => [luaOf({ a: [1, { b: null }] }, run)],
      (results, run) => results.map((each) => jsonOf(each, [], run)),
    )
  } catch (error) {
    if (error instanceof LuaError || error instanceof LuaLimitError) return
    throw error
  }
}

test('scripts of any text are answered', () => {
  const tokens = fc.array(fc.constantFrom(...words), { maxLength: 40 })
  fc.assert(
    fc.property(tokens, (list) => play(list.join(' '))),
    { numRuns: 1_500 },
  )
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), play), { numRuns: 1_000 })
})

const calls = [
  'string.rep',
  'string.sub',
  'string.byte',
  'string.char',
  'string.find',
  'string.match',
  'string.gmatch',
  'string.gsub',
  'string.format',
  'table.insert',
  'table.remove',
  'table.concat',
  'table.sort',
  'math.floor',
  'math.fmod',
  'tonumber',
  'select',
  'unpack',
  'next',
  'pcall',
  'error',
]
const values = [
  'nil',
  'true',
  '-1',
  '0',
  '2.5',
  '1e15',
  '-1e300',
  '0/0',
  '1/0',
  '""',
  '"a%"',
  '"[%a-z]*(.)%1"',
  '"%99.99f%q%d"',
  '{}',
  '{1, nil, 3}',
  '{a = {}}',
  'print',
  'function(...) return ... end',
]

test('the functions of the libraries take any values', () => {
  const call = fc.tuple(
    fc.constantFrom(...calls),
    fc.array(fc.constantFrom(...values), { maxLength: 4 }),
  )
  fc.assert(
    fc.property(call, ([name, args]) => play(`local _ = ${name}(${args.join(', ')})`)),
    { numRuns: 1_500 },
  )
})

test('patterns of any text end', () => {
  const pattern = fc.array(
    fc.constantFrom('a', '.', '*', '+', '-', '?', '%', '(', ')', '[', ']', '^', '$', '%1', '%b'),
    {
      maxLength: 12,
    },
  )
  fc.assert(
    fc.property(pattern, (parts) => {
      const text = JSON.stringify(parts.join(''))
      play(`local s = ("a"):rep(40) local _ = s:find(${text}), s:gsub(${text}, "%1")`)
    }),
    { numRuns: 500 },
  )
})

test('numbers are read and written back as they are', () => {
  const script = readLuaScript('function f(n) return tonumber(tostring(n)) end')
  const back = (value: number): unknown =>
    script.call(
      'f',
      () => [value],
      ([found]) => found,
    )
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(back(value), value === 0 ? 0 : value)
    }),
  )
})
