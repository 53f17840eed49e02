import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  createMetrics,
  ExpectedError,
  linkedSignal,
  silentLogger,
  systemClock,
  systemRandom,
} from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate, spkiHash } from '@skerry/pki'
import { failuresOfDamage, fileDamages } from '@skerry/testing'
import { freshToken, startTestHub } from '../../testing/scenes/test-fleet.ts'
import { openNodeIdentity } from '../runtime/node-identity.ts'
import { openAgentIdentity } from './agent-identity.ts'

const context = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
  signal: new AbortController().signal,
}

const nowhere = 'https://127.0.0.1:9'

const roles: Readonly<
  Record<'node' | 'agent', { name: string; open: (directory: string) => Promise<unknown> }>
> = {
  node: {
    name: 'kubelet-client',
    open: (directory) =>
      openNodeIdentity(
        {
          dataDir: directory,
          nodeName: 'n',
          servers: [],
          tokenFile: undefined,
          caHash: undefined,
        },
        context,
      ),
  },
  agent: {
    name: 'agent',
    open: (directory) =>
      openAgentIdentity(
        {
          directory: join(directory, 'pki'),
          hub: nowhere,
          clusterName: 'edge',
          tokenFile: undefined,
          tokenText: undefined,
          caHash: undefined,
        },
        context,
      ),
  },
}

async function makeIdentity(pki: string, name: string): Promise<void> {
  const nowMs = systemClock.now()
  const dates = { notBeforeMs: 0, notAfterMs: nowMs + 10 * 365 * 86_400_000 }
  const authority = await createAuthority({ subject: { commonName: 'ca' }, ...dates })
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: name },
    publicKeyPem,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
    ...dates,
  })
  await mkdir(pki, { recursive: true })
  await writeFile(join(pki, 'ca.crt'), authority.certificatePem)
  await writeFile(join(pki, `${name}.crt`), certificatePem)
  await writeFile(join(pki, `${name}.key`), privateKeyPem)
  await writeFile(join(pki, 'server'), nowhere)
}

test('each damaged file of the identity of a node is refused in one line, and no other is changed', () =>
  eachDamage('node'))

test('each damaged file of the identity of an agent is refused in one line, and no other is changed', () =>
  eachDamage('agent'))

async function eachDamage(role: 'node' | 'agent'): Promise<void> {
  const { name, open } = roles[role]
  const parent = await mkdtemp(join(tmpdir(), 'skerry-damaged-identity-'))
  const whole = join(parent, 'whole')
  const failures: string[] = []
  try {
    await makeIdentity(join(whole, 'pki'), name)
    await open(whole)
    // The hub of an agent is always named by a flag.
    const files = (await readdir(join(whole, 'pki'))).filter(
      (file) => role === 'node' || file !== 'server',
    )
    for (const file of files) {
      for (const [what, damage] of Object.entries(fileDamages)) {
        // A cut address is still an address.
        if (file === 'server' && what === 'cut') continue
        const directory = join(parent, 'damaged')
        await cp(whole, directory, { recursive: true })
        await damage(join(directory, 'pki', file))
        try {
          await open(directory)
          failures.push(`started: ${file} ${what}`)
        } catch (error) {
          if (!(error instanceof ExpectedError)) failures.push(`${file} ${what}: ${String(error)}`)
          else if (error.message.includes('\n')) failures.push(`lines: ${error.message}`)
        }
        for (const other of files.filter((each) => each !== file)) {
          const [before, after] = [whole, directory].map((each) => join(each, 'pki', other))
          assert.ok(before && after)
          if ((await readFile(before, 'utf8')) !== (await readFile(after, 'utf8'))) {
            failures.push(`changed: ${other} by ${file} ${what}`)
          }
        }
        await rm(directory, { recursive: true })
      }
    }
    assert.deepEqual(failures, [])
  } finally {
    await rm(parent, { recursive: true })
  }
}

test('a damaged key for which an agent was about to ask a certificate is made again, or refused in one line', async () => {
  await using fleet = await startTestHub()
  const whole = await mkdtemp(join(tmpdir(), 'skerry-pending-key-'))
  const start = async (directory: string): Promise<void> => {
    const stop = linkedSignal(context.signal)
    try {
      await openAgentIdentity(
        {
          directory,
          hub: fleet.url,
          clusterName: 'edge',
          tokenFile: undefined,
          tokenText: await freshToken(fleet, 'edge'),
          caHash: spkiHash(fleet.caPem),
        },
        { ...fleet.context, signal: stop.signal },
      )
    } finally {
      stop.abort(new Error('it was opened'))
    }
  }
  try {
    await writeFile(join(whole, 'ca.crt'), fleet.caPem)
    await writeFile(join(whole, 'agent-next.key'), (await generateKeyPair()).privateKeyPem)
    const failures = await failuresOfDamage({
      whole,
      files: ['agent-next.key'],
      expected: (_, damage) => (damage === 'a directory' ? 'refused' : 'made again'),
      start,
    })
    assert.deepEqual(failures, [])
  } finally {
    await rm(whole, { recursive: true })
  }
})
