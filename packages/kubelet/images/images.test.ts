import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Secret } from '@skerry/api'
import { parseImageReference, withDefaultTag, type ImageReference } from './image-reference.ts'
import { imageLayerOfFiles, ociArchive } from './oci-archive.ts'
import { pauseProgram } from './pause-program.ts'
import { pullCredentials } from './pull-credentials.ts'
import { Slots } from './slots.ts'

const digest = `sha256:${'a'.repeat(64)}`
const references: [string, string | undefined][] = [
  ['busybox', 'docker.io/library/busybox:latest'],
  ['busybox:1', 'docker.io/library/busybox:1'],
  ['team/app', 'docker.io/team/app:latest'],
  ['localhost/app:2', 'localhost/app:2'],
  ['127.0.0.1:5000/app', '127.0.0.1:5000/app:latest'],
  [`ghcr.io/a/b@${digest}`, `ghcr.io/a/b@${digest}`],
  [`ghcr.io/a/b:1@${digest}`, `ghcr.io/a/b:1@${digest}`],
  ['UPPER', undefined],
  ['a b', undefined],
  ['a:b:c', undefined],
  ['', undefined],
]

function fullName({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`
}

for (const [text, expected] of references) {
  test(`image "${text}" is ${expected ?? 'no image'}`, () => {
    const reference = parseImageReference(text)
    assert.equal(reference && fullName(reference), expected)
  })
}

test('only a reference without tag and digest gets the default tag', () => {
  const texts = ['app', 'app:1', 'host:5000/app', `app@${digest}`].map(withDefaultTag)
  assert.deepEqual(texts, ['app:latest', 'app:1', 'host:5000/app:latest', `app@${digest}`])
})

const secretOf = (auths: Record<string, object>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'pull' },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
})

test('credentials: those whose registry fits, the most specific first', () => {
  const auth = Buffer.from('ann:pass:word').toString('base64')
  const secrets = [
    secretOf({ 'ghcr.io': { username: 'any', password: 'x' }, 'ghcr.io/team': { auth } }),
    secretOf({ '*.example.com': { username: 'glob', password: 'x' } }),
    secretOf({ 'https://index.docker.io/v1/': { username: 'hub', password: 'x' } }),
  ]
  const users = (image: string): (string | undefined)[] =>
    pullCredentials(image, secrets).map(({ username }) => username)
  assert.deepEqual(users('ghcr.io/team/app'), ['ann', 'any'])
  assert.equal(pullCredentials('ghcr.io/team/app', secrets)[0]?.password, 'pass:word')
  assert.equal(pullCredentials('ghcr.io/team/app', secrets)[0]?.serverAddress, undefined)
  assert.deepEqual(users('ghcr.io/other/app'), ['any'])
  assert.deepEqual(users('eu.example.com/app'), ['glob'])
  assert.deepEqual(users('busybox'), ['hub'])
  assert.deepEqual(users('quay.io/app'), [])
})

test('a broken pull secret gives no credentials and breaks nothing', () => {
  const broken: Secret = { ...secretOf({}), data: { '.dockerconfigjson': '!!!' } }
  assert.deepEqual(pullCredentials('busybox', [broken]), [])
})

for (const [architecture, machine] of [
  ['amd64', 62],
  ['arm64', 183],
] as const) {
  test(`the pause program for ${architecture} is one small static executable`, () => {
    const program = Buffer.from(pauseProgram(architecture))
    assert.equal(program.subarray(0, 4).toString('latin1'), '\x7fELF')
    assert.equal(program.readUInt16LE(18), machine)
    assert.equal(Number(program.readBigUInt64LE(96)), program.length)
    assert.ok(program.length < 300)
  })
}

test('the same image twice is the same bytes', async () => {
  const archive = async () => {
    const layers = [await imageLayerOfFiles([{ path: 'x', content: 'x' }])]
    const image = { reference: 'localhost/a:1', architecture: 'amd64', layers, config: {} } as const
    return buffer(ociArchive([image]))
  }
  const first = await archive()
  assert.deepEqual(await archive(), first)
})

test('slots: a limited number at a time, the others in turn; one that gives up leaves the queue', async () => {
  const slots = new Slots(1)
  const signal = new AbortController().signal
  const first = await slots.take(signal)
  const order: string[] = []
  const impatient = new AbortController()
  const second = slots.take(impatient.signal).catch(() => order.push('second left'))
  const third = slots.take(signal).then((slot) => {
    order.push('third')
    return slot
  })
  impatient.abort(new Error('no time'))
  await second
  await setImmediate()
  assert.deepEqual(order, ['second left'])
  first[Symbol.dispose]()
  const slot = await third
  assert.deepEqual(order, ['second left', 'third'])
  slot[Symbol.dispose]()
})
