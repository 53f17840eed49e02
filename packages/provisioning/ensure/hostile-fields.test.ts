import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  createTestNetwork,
  startTestMachine,
  whyNoMachine,
  type TestMachine,
} from '@skerry/testing'
import type { Shell } from '../contract/shell.ts'
import type { JobOrder, MachineContext } from '../contract/step.ts'
import type { EdgeClusterSpec } from '../kind/edge-cluster.ts'
import { sshShells } from '../shell/ssh-shell.ts'
import { canary, hostileTexts } from '../testing/hostile-texts.ts'
import { startWay, type HostWay } from '../testing/host-way.ts'
import { stepScene } from '../testing/step-scene.ts'
import { installParts } from './install-package.ts'
import { prepareMachine } from './install-program.ts'
import { startNode } from './node.ts'
import { pullImages } from './pull-images.ts'
import { startSiteOf } from './site.ts'

const skip = await whyNoMachine()
const openShell = sshShells({ clock: systemClock })
const { signal } = new AbortController()
const stack = new AsyncDisposableStack()
const token = {
  server: 'https://10.0.0.1:7443',
  token: 'abcdef.0123456789abcdef',
  caHash: 'sha256:0',
}

let machine: TestMachine
let way: HostWay
let shell: Shell

/** Stands in for the program: it keeps its words, each ended by a NUL. */
const program = '#!/bin/sh\nprintf "%s\\0" "$@" >>/root/words\n'

function contextWith(spec: Partial<EdgeClusterSpec>): MachineContext {
  return { ...stepScene({ spec }).context, shell, shellOf: async () => shell, signal }
}

/** Every way on which a field of an object reaches a machine; no check of the object has seen the text. */
const ways: Readonly<Record<string, (text: string) => Promise<string>>> = {
  'the plan of a machine': (text) =>
    prepareMachine(contextWith({ clusterName: text, network: { podCIDR: text, dnsDomain: text } })),
  'options of a site': (text) =>
    startSiteOf(token, [], { ...contextWith({ clusterName: text, apiNames: [text] }) }),
  'labels of a node': (text) => {
    const block = {
      addresses: ['10.0.0.11'],
      credentials: { name: 'ssh' },
      labels: { [text]: text },
    }
    return startNode(token, contextWith({ machines: [{ ...block, role: 'Master' }] }))
  },
  'names of images': (text) => {
    const spec = { clusters: {}, pullImages: { images: [text] } }
    const job = { apiVersion: '', kind: 'EdgeJob', metadata: { name: 'job' }, spec }
    const order: JobOrder = { job, confirmed: [] }
    return pullImages(order)(contextWith({}))
  },
  'the digest and the key of a package': (text) =>
    installParts('/usr/local/bin/skerry', { digest: text, publicKey: text }, contextWith({})),
}

describe('hostile texts reach a real machine over SSH', { skip, timeout: 400_000 }, () => {
  before(async () => {
    const network = stack.use(await createTestNetwork())
    const host = await network.addHost(1)
    machine = stack.use(await startTestMachine(host, 'hostile'))
    way = stack.use(await startWay(host))
    const login = { user: 'keeper', password: machine.passwords.keeper, port: way.port }
    const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
    shell = stack.use(await openShell(request, signal))
    await shell.write('/usr/local/bin/skerry', program, 0o755)
  })
  after(() => stack.disposeAsync())

  for (const [name, act] of Object.entries(ways)) {
    test(`nothing of ${name} is executed or becomes another word`, async () => {
      await machine.ask(['rm', '-f', '/root/words'])
      for (const text of tried) await act(text).catch(() => undefined)
      assert.equal((await machine.run(['test', '-e', canary])).exitCode, 1)
      const words = (await machine.run(['cat', '/root/words'])).stdout.split('\0')
      // The program gets a text as a whole word, or not at all.
      const own = words.filter((word) => !known.has(word) && word !== '')
      assert.ok(
        own.every((word) => tried.includes(word)),
        JSON.stringify(own).slice(0, 200),
      )
    })
  }
})

/** Those by which a shell would do something: each costs some logins with sudo. */
const tried = hostileTexts.filter((text) => text.includes(canary) || /^[-a]{2}|\0/.test(text))

const known = new Set(
  'machine prepare --plan /etc/skerry/machine.json image pull -- install-package --package --public-key-file /etc/skerry/package.pub'.split(
    ' ',
  ),
)
