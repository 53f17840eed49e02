/**
 * lua: an interpreter of Lua 5.1 for untrusted scripts. Every step, byte and library call is charged
 * to a budget, and a script that exceeds its budget or its time ends with LuaLimitError.
 * Start reading at lua-script.ts.
 */
export { LuaArguments, type LuaLibraryFunction } from './lua-arguments.ts'
export { jsonOf, luaOf } from './lua-json.ts'
export { LuaLibraries } from './lua-libraries.ts'
export { osFunctions } from './lua-os-library.ts'
export { parseLua } from './lua-parser.ts'
export { type LuaScript, readLuaScript } from './lua-script.ts'
export { LuaError, LuaLimitError, type LuaValue, toBytes, toText } from './lua-value.ts'
