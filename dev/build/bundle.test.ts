import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from './bundle.ts'
import { loadedChunks } from './loaded-chunks.ts'

/** Names that the bundle keeps from parts that a mostly idle process should not hold in memory. */
const marks = {
  /** The dependencies of @peculiar/x509: 9 MB in total. */
  x509: 'reflect-metadata/Reflect.js',
  lua: 'function readLuaScript(',
  virtualClusters: 'function createVirtualClusters(',
  machines: 'function edgeClusterController(',
  metricsOfNode: '@opentelemetry/api',
  logsOfWorkers: 'thread-stream/index.js',
}

test('agents and nodes, which mostly wait, load no code that they do not need yet', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-bundle-'))
  try {
    await bundleProgram({ outputDirectory: directory, version })
    const chunks = join(directory, 'chunks')
    const names = await readdir(chunks)
    const heldBy = async (role: string): Promise<string[]> => {
      const texts = await loadedChunks(directory, role)
      const held = Object.entries(marks).filter(([, mark]) =>
        texts.some((text) => text.includes(mark)),
      )
      return held.map(([name]) => name)
    }
    assert.deepEqual(await heldBy('hub'), ['x509'], 'it signs certificates')
    assert.ok((await heldBy('machine-controllers')).includes('machines'))
    assert.deepEqual(await heldBy('agent-virtual'), ['virtualClusters'])
    assert.deepEqual(await heldBy('lua-interpreter'), ['lua'])
    const thread = names.find((name) => name.startsWith('yaml-thread-entry-')) ?? ''
    const text = await readFile(join(chunks, thread), 'utf8')
    assert.ok(
      text.includes('yamlThreadEntry={code:'),
      'the thread that reads YAML starts from the bundle alone',
    )
    for (const role of ['agent-pod', 'agent-way', 'node'])
      assert.deepEqual(await heldBy(role), [], role)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('launchers that start at the same time all make the bundle', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-bundle-'))
  try {
    const launchers = Array.from({ length: 2 }, () =>
      bundleProgram({ outputDirectory: directory, version }),
    )
    await Promise.all(launchers)
    const left = await readdir(directory, { recursive: true })
    assert.deepEqual(
      left.filter((name) => basename(name).startsWith('.')),
      [],
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
