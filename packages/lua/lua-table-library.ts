import type { LuaArguments, LuaLibraryFunction } from './lua-arguments.ts'
import { unpack } from './lua-base-library.ts'
import { operations } from './lua-operators.ts'
import { isTrue, LuaFunction, numberText, type LuaValue } from './lua-value.ts'

export const tableFunctions: Readonly<Record<string, LuaLibraryFunction>> = Object.freeze({
  concat,
  getn: (args: LuaArguments) => args.table(0).length,
  insert,
  maxn(args: LuaArguments) {
    let max = 0
    for (const key of args.table(0).keys(args.run)) {
      if (typeof key === 'number' && key > max) max = key
    }
    return max
  },
  remove(args: LuaArguments) {
    const table = args.table(0)
    return table.remove(args.whole(1, table.length), args.run)
  },
  sort,
  unpack,
})

function concat(args: LuaArguments): string {
  const { run } = args
  const table = args.table(0)
  const separator = args.values[1] === undefined ? '' : args.text(1)
  const from = args.whole(2, 1)
  const to = args.whole(3, table.length)
  const pieces: string[] = []
  for (let index = from; index <= to; index += 1) {
    run.step()
    const value = table.get(index)
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw run.error(`invalid value at index ${index} in table for concat`)
    }
    const piece = typeof value === 'string' ? value : numberText(value)
    run.copy(piece.length + separator.length)
    run.spend(piece.length + separator.length)
    pieces.push(piece)
  }
  return pieces.join(separator)
}

function insert(args: LuaArguments): readonly LuaValue[] {
  const table = args.table(0)
  if (args.count <= 2) {
    table.set(table.length + 1, args.any(1), args.run)
    return []
  }
  const position = args.whole(1)
  if (position < 1 || position > table.length + 1) {
    throw args.error(1, 'position out of bounds')
  }
  table.insert(position, args.values[2], args.run)
  return []
}

/** Sorts by merging: of equal elements the first stays first, and an inconsistent order ends, too. */
function sort(args: LuaArguments): readonly LuaValue[] {
  const { run } = args
  const table = args.table(0)
  const by = args.values[1]
  const before = (left: LuaValue, right: LuaValue): boolean => {
    run.step()
    if (!(by instanceof LuaFunction)) {
      return isTrue(operations['<'](left, right, { run, line: run.line }))
    }
    run.enter()
    const [answer] = by.body([left, right], run)
    run.leave()
    return isTrue(answer)
  }
  run.spend(16 * table.length)
  // Holes are not compared, but still traversed.
  run.step(table.length)
  table.replaceRow(
    table.row().toSorted((left, right) => (before(left, right) ? -1 : before(right, left) ? 1 : 0)),
  )
  return []
}
