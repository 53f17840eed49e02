import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom, silentLogger, systemClock, type Logger } from '@skerry/base'
import { StatusError } from '@skerry/api'
import { configMap, writeOf } from '../testing/write-of.ts'
import type { JournaledWrite } from './journaled-write.ts'
import { WriteJournal, type JournalEntry } from './write-journal.ts'

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-journal-'))
  try {
    await run(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function open(directory: string, log: Logger = silentLogger): Promise<WriteJournal> {
  const deps = { clock: systemClock, random: seededRandom(1), log }
  return WriteJournal.open(join(directory, 'writes.db'), deps)
}

function entriesOf(journal: WriteJournal): JournalEntry[] {
  const all: JournalEntry[] = []
  for (let entry = journal.next(0); entry; entry = journal.next(entry.seq)) all.push(entry)
  return all
}

const colors = (journal: WriteJournal): unknown[] =>
  entriesOf(journal).map(({ write }) => write?.edge?.['data'])

const other = (name: string, color: string): JournaledWrite =>
  writeOf({ name, edge: configMap({ color }, { name }) })

test('a write that the journal has taken is there after the process was killed', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    journal.append(other('a', 'blue'))
    journal.append(other('b', 'green'))
    // A killed process leaves behind the files as they are now.
    const left = await mkdtemp(join(tmpdir(), 'skerry-journal-left-'))
    await cp(directory, left, { recursive: true })
    using again = await open(left)
    assert.deepEqual(colors(again), [{ color: 'blue' }, { color: 'green' }])
    assert.equal(again.id, journal.id)
    assert.ok(again.holds({ group: '', resource: 'configmaps' }))
    assert.ok(!again.holds({ group: '', resource: 'secrets' }))
    await rm(left, { recursive: true })
  }))

test('entries stay in their order until they are finished', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    for (const name of ['a', 'b', 'c']) journal.append(other(name, name))
    const [first] = entriesOf(journal)
    assert.ok(first)
    journal.finish(first, { local: 'u-here', given: 'u-there' })
    assert.deepEqual(colors(journal), [{ color: 'b' }, { color: 'c' }])
    assert.equal(journal.givenUid('u-here'), 'u-there')
    for (const entry of entriesOf(journal)) journal.finish(entry)
    assert.equal(journal.size, 0)
    assert.ok(!journal.holds({ group: '', resource: 'configmaps' }))
  }))

test('writes of one object by one user are one entry, from the first state to the last', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    for (let count = 0; count < 50; count += 1) {
      journal.append(writeOf({ revision: 6 + count, edge: configMap({ color: String(count) }) }))
    }
    const [entry, ...more] = entriesOf(journal)
    assert.deepEqual(entry?.write?.base?.['data'], { color: 'red' })
    assert.deepEqual(entry?.write?.edge?.['data'], { color: '49' })
    assert.equal(more.length, 0)
    assert.equal(journal.highestRevision(), 55)
  }))

test('an entry whose request is on its way takes no further write', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    journal.append(writeOf({ verb: 'create', base: undefined }))
    const [first] = entriesOf(journal)
    assert.ok(first)
    journal.prepare(first, { isSent: true, conflict: undefined })
    journal.append(writeOf({ edge: configMap({ color: 'green' }) }))
    assert.deepEqual(
      entriesOf(journal).map(({ isSent, write }) => [isSent, write?.verb]),
      [
        [true, 'create'],
        [false, 'update'],
      ],
    )
  }))

test('an object that was created and deleted while the control plane was away leaves no entry', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    journal.append(writeOf({ verb: 'create', base: undefined }))
    journal.append(writeOf({ verb: 'delete', base: configMap({ color: 'blue' }), edge: undefined }))
    assert.equal(journal.size, 0)
    assert.ok(journal.isOwnRevision({ group: '', resource: 'configmaps' }, 6))
  }))

test('a damaged entry is named and not served, and the others are', () =>
  withDirectory(async (directory) => {
    {
      using journal = await open(directory)
      journal.append(other('a', 'needle'))
      journal.append(other('b', 'green'))
    }
    const path = join(directory, 'writes.db')
    const bytes = await readFile(path)
    bytes.write('beetle', bytes.indexOf('needle'))
    await writeFile(path, bytes)
    const errors: [string, object | undefined][] = []
    const error = (text: string, fields?: object): void => void errors.push([text, fields])
    using journal = await open(directory, { ...silentLogger, error })
    const [first, second] = entriesOf(journal)
    assert.equal(first?.write, undefined)
    assert.match(first?.object ?? '', /configmaps.*shop.*"a"/)
    assert.deepEqual(second?.write?.edge?.['data'], { color: 'green' })
    assert.deepEqual(errors, [
      [
        'Entry of the journal of writes is damaged',
        { seq: 1, object: JSON.stringify(['', 'configmaps', 'shop', 'a']) },
      ],
    ])
  }))

test('a file that has become unreadable is moved aside and named', () =>
  withDirectory(async (directory) => {
    {
      using journal = await open(directory)
      journal.append(other('a', 'blue'))
    }
    const path = join(directory, 'writes.db')
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0x5a, 0, 8_192))
    const errors: string[] = []
    const error = (text: string): void => void errors.push(text)
    using journal = await open(directory, { ...silentLogger, error })
    assert.equal(journal.size, 0)
    assert.ok(journal.damagedPath?.startsWith(`${path}.damaged-`))
    assert.ok((await readdir(directory)).some((name) => name.startsWith('writes.db.damaged-')))
    assert.equal(errors.length, 1)
    journal.forgetDamage()
    assert.equal(journal.damagedPath, undefined)
  }))

test('a write that does not fit is refused with 507, and the others stay', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    journal.append(other('a', 'blue'))
    const large = 'x'.repeat(8 * 1024 * 1024)
    assert.throws(
      () => journal.append(other('b', large)),
      (error) =>
        error instanceof StatusError &&
        error.code === 507 &&
        error.details?.causes?.[0]?.reason === 'JournalFull',
    )
    assert.equal(journal.size, 1)
    journal.append(other('c', 'green'))
    assert.deepEqual(colors(journal), [{ color: 'blue' }, { color: 'green' }])
  }))

test('a revision that this node gave out is known as its own', () =>
  withDirectory(async (directory) => {
    using journal = await open(directory)
    const resource = { group: '', resource: 'configmaps' }
    journal.append(writeOf({ revision: 11 }))
    journal.append(writeOf({ revision: 12 }))
    assert.deepEqual(
      [10, 11, 12, 13].map((revision) => journal.isOwnRevision(resource, revision)),
      [false, true, true, false],
    )
    for (const entry of entriesOf(journal)) journal.finish(entry)
    // A later absence: what the control plane gave out between the two stays its own.
    journal.append(writeOf({ revision: 101 }))
    assert.deepEqual(
      [12, 50, 100, 101].map((revision) => journal.isOwnRevision(resource, revision)),
      [true, false, false, true],
    )
  }))
