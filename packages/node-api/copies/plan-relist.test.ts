import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planRelist, type KnownObject, type ListedObject } from './plan-relist.ts'

const value = new Uint8Array([1])
const listed = (key: string, revision: number, uid = key): ListedObject => ({
  key,
  revision,
  uid,
  value,
})
const copy = (revision: number, ...objects: [key: string, revision: number, uid?: string][]) => ({
  revision,
  known: new Map<string, KnownObject>(
    objects.map(([key, at, uid = key]) => [key, { revision: at, uid }]),
  ),
})

interface Row {
  title: string
  copy: ReturnType<typeof copy>
  list: { revision: number; objects: ListedObject[] }
  expected: string[] | undefined
}

const table: readonly Row[] = [
  {
    title: 'a list that is the copy has no events',
    copy: copy(7, ['a', 3]),
    list: { revision: 9, objects: [listed('a', 3)] },
    expected: [],
  },
  {
    title: 'changes are in the order in which they happened',
    copy: copy(7, ['a', 3], ['b', 4]),
    list: { revision: 12, objects: [listed('a', 11), listed('b', 4), listed('c', 9)] },
    expected: ['put c 9', 'put a 11'],
  },
  {
    title: 'a missing object was deleted by the time of the list',
    copy: copy(7, ['a', 3], ['b', 4]),
    list: { revision: 12, objects: [listed('b', 10)] },
    expected: ['put b 10', 'delete a 12'],
  },
  {
    title: 'an object of the same name is another one, and the first was deleted before',
    copy: copy(7, ['a', 3, 'one']),
    list: { revision: 12, objects: [listed('a', 9, 'two')] },
    expected: ['delete a 8', 'put a 9'],
  },
  {
    title: 'revisions that went back are of another history',
    copy: copy(7, ['a', 3]),
    list: { revision: 5, objects: [listed('a', 3)] },
    expected: undefined,
  },
  {
    title: 'a change from before the copy that it does not have is of another history',
    copy: copy(7, ['a', 3]),
    list: { revision: 12, objects: [listed('a', 5)] },
    expected: undefined,
  },
]

for (const row of table) {
  test(row.title, () => {
    const plan = planRelist(row.copy, row.list)
    const texts = plan?.map(({ type, key, revision }) => `${type} ${key} ${revision}`)
    assert.deepEqual(texts, row.expected)
  })
}
