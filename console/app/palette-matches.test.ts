import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paletteMatches, searchEntry } from './palette-matches.ts'

const entry = (title: string, note = '') => ({ title, note, href: `/${title}` })
const entries = [
  entry('workshop', 'Cluster'),
  entry('till-shop', 'Cluster'),
  entry('shop-7', 'Cluster'),
  entry('Applications', 'Page'),
]

test('titles that begin with the text come first, then words of titles, then anything', () => {
  const found = (text: string): string[] =>
    paletteMatches(entries, text, 10).map(({ title }) => title)
  assert.deepEqual(found('shop'), ['shop-7', 'till-shop', 'workshop'])
  assert.deepEqual(found('SHOP clu'), ['shop-7', 'till-shop', 'workshop'])
  assert.deepEqual(found('page'), ['Applications'])
  assert.deepEqual(found('nothing'), [])
})

test('an empty text offers the first entries, and no more than fit', () => {
  assert.equal(paletteMatches(entries, ' ', 2).length, 2)
  assert.equal(paletteMatches(entries, 's', 1).length, 1)
})

test('a text of two letters can be looked for in all clusters', () => {
  assert.deepEqual(searchEntry('w', 'title'), [])
  assert.deepEqual(searchEntry(' app=web ', 'title'), [
    { title: 'title', href: '/search?q=app%3Dweb', note: '' },
  ])
})
