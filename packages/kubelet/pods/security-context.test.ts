import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod, PodSpec } from '@skerry/api'
import { containerSecurityContext, namespaceOptions } from './security-context.ts'

const podOf = (spec: Partial<PodSpec>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { containers: [], ...spec },
})

const contextOf = (
  pod: Partial<PodSpec>,
  container: Partial<Container>,
  image: { uid: number | undefined; username: string } = { uid: undefined, username: '' },
) =>
  containerSecurityContext({
    pod: podOf(pod),
    container: { name: 'main', ...container },
    image,
    seccompDirectory: '/profiles',
  })

test('a plain container: no user asked, unconfined, the host masked', () => {
  const context = contextOf({}, {})
  assert.equal(context.runAsUser, undefined)
  assert.deepEqual(context.seccomp, { profileType: 'Unconfined' })
  assert.ok(context.maskedPaths.includes('/proc/kcore'))
  assert.ok(context.readonlyPaths.includes('/proc/sys'))
  assert.equal(context.noNewPrivs, false)
})

test("the container's settings win over the pod's, the pod's over the image's", () => {
  const pod: Partial<PodSpec> = {
    securityContext: { runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4] },
  }
  const image = { uid: 9, username: '' }
  assert.deepEqual(contextOf(pod, {}, image).runAsUser, { value: 1 })
  assert.deepEqual(contextOf(pod, { securityContext: { runAsUser: 7 } }, image).runAsUser, {
    value: 7,
  })
  assert.deepEqual(contextOf({}, {}, image).runAsUser, { value: 9 })
  assert.equal(contextOf({}, {}, { uid: undefined, username: 'app' }).runAsUsername, 'app')
  assert.deepEqual(contextOf(pod, {}).supplementalGroups, [4, 3])
})

test('hardening reaches the runtime', () => {
  const context = contextOf(
    {},
    {
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
        seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' },
      },
    },
  )
  assert.equal(context.readonlyRootfs, true)
  assert.equal(context.noNewPrivs, true)
  assert.deepEqual(context.capabilities, {
    addCapabilities: ['NET_ADMIN'],
    dropCapabilities: ['ALL'],
  })
  assert.deepEqual(context.seccomp, {
    profileType: 'Localhost',
    localhostRef: '/profiles/a/b.json',
  })
})

test('a privileged container sees the machine', () => {
  const context = contextOf({}, { securityContext: { privileged: true } })
  assert.deepEqual(context.maskedPaths, [])
  assert.deepEqual(context.seccomp, { profileType: 'Unconfined' })
})

const refusals: [Parameters<typeof contextOf>, RegExp][] = [
  [[{ securityContext: { runAsNonRoot: true } }, {}], /image will run as root/],
  [
    [{ securityContext: { runAsNonRoot: true, runAsUser: 0 } }, {}],
    /runAsUser breaks non-root policy/,
  ],
  [
    [{ securityContext: { runAsNonRoot: true } }, {}, { uid: undefined, username: 'app' }],
    /non-numeric user \(app\)/,
  ],
]

for (const [input, message] of refusals) {
  test(`runAsNonRoot: ${message.source}`, () => {
    assert.throws(() => contextOf(...input), message)
  })
}

test('runAsNonRoot accepts a user that is not root', () => {
  contextOf({ securityContext: { runAsNonRoot: true } }, {}, { uid: 1000, username: '' })
})

test('a container joins the namespaces that its pod asks for', () => {
  const words = (spec: Partial<PodSpec>, target?: string): string => {
    const { network, pid, ipc } = namespaceOptions(podOf(spec), target)
    return `${network} ${pid} ${ipc}`
  }
  assert.equal(words({}), 'POD CONTAINER POD')
  assert.equal(words({ hostNetwork: true, hostPID: true, hostIPC: true }), 'NODE NODE NODE')
  assert.equal(words({ shareProcessNamespace: true }, 'c1'), 'POD POD POD')
  assert.equal(words({}, 'c1'), 'POD TARGET POD')
})
