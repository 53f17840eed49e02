/** Tests every verb that people use, with an unmodified kubectl 1.35, and its effect. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { fetchText } from './guestbook-page.ts'
import { startPortForward } from './port-forward.ts'
import { whyNot } from './prerequisites.ts'
import { openTerminal } from './terminal.ts'

const setUp = `
apiVersion: v1
kind: Namespace
metadata: { name: verbs }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: verbs, labels: { tier: front } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: skerry-examples/guestbook:v1
          readinessProbe: { httpGet: { path: /healthz, port: 8080 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Pod
metadata: { name: shell, namespace: verbs, labels: { app: shell } }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: skerry-examples/redis:7.0
      command: [sh, -c, 'while true; do date; sleep 1; done']
---
apiVersion: v1
kind: Pod
metadata: { name: echo, namespace: verbs }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - { name: main, image: skerry-examples/redis:7.0, command: [cat], stdin: true }
---
apiVersion: v1
kind: Pod
metadata: { name: crash, namespace: verbs }
spec:
  containers:
    - name: main
      image: skerry-examples/redis:7.0
      command: [sh, -c, 'echo before the fall; sleep 1; exit 3']
`

interface Scene {
  cluster: ClusterOnHosts
  node: EdgeNode
  /** Runs kubectl in the namespace; fails unless it ends with 0. */
  kubectl: (...args: string[]) => Promise<string>
  /** Runs kubectl in the namespace; returns its exit code and output. */
  attempt: ClusterOnHosts['tryKubectl']
}

test('kubectl 1.35 on a site', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  const node = await cluster.addNode(1)
  await cluster.apply(setUp)
  const scene: Scene = {
    cluster,
    node,
    kubectl: (...args) => cluster.kubectl('-n', 'verbs', ...args),
    attempt: (args, options) => cluster.tryKubectl(['-n', 'verbs', ...args], options),
  }
  await scene.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
  await scene.kubectl('wait', 'pod/shell', 'pod/echo', '--for=condition=Ready', '--timeout=60s')
  for (const [name, run] of Object.entries(verbs)) {
    await t.test(name, async () => {
      try {
        await run(scene)
      } catch (error) {
        console.error(await cluster.diagnose())
        throw error
      }
    })
  }
})

/** The tests by verb; those that empty the node come last. */
const verbs: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async get({ kubectl }) {
    assert.match(
      await kubectl('get', 'deploy'),
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2\/2 +2 +2 /,
    )
    assert.match(
      await kubectl('get', 'pod', 'shell', '-o', 'wide'),
      /NOMINATED NODE.*\nshell .* 10\.42\./,
    )
    assert.equal(
      (await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n').length,
      2,
    )
    assert.match(await kubectl('get', 'pods', '-A'), /^NAMESPACE .*\n(?:.*\n)*verbs +shell /)
    assert.match(
      await kubectl('get', 'deploy', 'web', '-o', 'yaml'),
      /^apiVersion: apps\/v1\nkind: Deployment\n/m,
    )
    const json: unknown = JSON.parse(await kubectl('get', 'deploy', 'web', '-o', 'json'))
    assert.ok(typeof json === 'object' && json !== null && 'spec' in json)
    const columns = 'custom-columns=N:.metadata.name,T:.metadata.labels.tier'
    assert.equal(await kubectl('get', 'deploy', '-o', columns), 'N     T\nweb   front\n')
    const selected = await kubectl(
      'get',
      'pods',
      '--field-selector',
      'metadata.name=shell',
      '-o',
      'name',
    )
    assert.equal(selected, 'pod/shell\n')
  },

  async 'get -w'(scene) {
    const { cluster, kubectl } = scene
    await using watch = startWatch(cluster, [
      '-n',
      'verbs',
      'get',
      'configmaps',
      '-w',
      '-o',
      'name',
    ])
    await watch.until('configmap/kube-root-ca.crt')
    await kubectl('create', 'configmap', 'seen')
    await watch.until('configmap/seen')
  },

  async apply({ kubectl, attempt }) {
    const applied = async (value: string, ...flags: string[]): Promise<string> => {
      const input = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"${value}"}}`
      const { stdout, stderr } = await attempt(['apply', '-f', '-', ...flags], { input })
      return (stdout + stderr).trim()
    }
    const read = (): Promise<string> => kubectl('get', 'cm', 'a', '-o', 'jsonpath={.data.k}')
    assert.equal(await applied('1', '--dry-run=client'), 'configmap/a created (dry run)')
    assert.equal(await applied('1', '--dry-run=server'), 'configmap/a created (server dry run)')
    assert.equal(await applied('1'), 'configmap/a created')
    assert.equal(await applied('1'), 'configmap/a unchanged')
    assert.equal(await applied('2', '--dry-run=server'), 'configmap/a configured (server dry run)')
    assert.equal(await read(), '1')
    assert.equal(await applied('2'), 'configmap/a configured')
    assert.equal(await read(), '2')
    assert.match(
      await applied('3', '--server-side', '--field-manager=other'),
      /conflict.*kubectl-client-side-apply/s,
    )
    const force = ['--server-side', '--field-manager=other', '--force-conflicts']
    assert.equal(await applied('3', ...force), 'configmap/a serverside-applied')
    assert.equal(await read(), '3')
  },

  async create({ kubectl, attempt }) {
    await kubectl('create', 'secret', 'generic', 'keys', '--from-literal=one=1')
    assert.equal(await kubectl('get', 'secret', 'keys', '-o', 'jsonpath={.data.one}'), 'MQ==')
    const again = await attempt(['create', 'secret', 'generic', 'keys'])
    assert.match(again.stderr, /secrets "keys" already exists/)
    await kubectl(
      'create',
      'job',
      'once',
      '--image=skerry-examples/redis:7.0',
      '--',
      'echo',
      'done',
    )
    await kubectl('wait', 'job/once', '--for=condition=complete', '--timeout=60s')
    assert.equal(await kubectl('logs', 'job/once'), 'done\n')
  },

  async edit({ cluster, kubectl, attempt }) {
    await kubectl('create', 'configmap', 'edited', '--from-literal=k=before')
    const editor = join(cluster.directory, 'editor')
    await writeFile(editor, '#!/bin/sh\nsed -i s/before/after/ "$1"\n')
    await chmod(editor, 0o755)
    const result = await attempt(['edit', 'configmap', 'edited'], { env: { EDITOR: editor } })
    assert.equal(result.stdout, 'configmap/edited edited\n', result.stderr)
    assert.equal(await kubectl('get', 'cm', 'edited', '-o', 'jsonpath={.data.k}'), 'after')
  },

  async patch({ kubectl }) {
    const patch = (type: string, text: string): Promise<string> =>
      kubectl('patch', 'deploy', 'web', '--type', type, '-p', text)
    await patch('strategic', '{"metadata":{"labels":{"by":"strategic"}}}')
    await patch('merge', '{"metadata":{"labels":{"merged":"yes"}}}')
    await patch('json', '[{"op":"add","path":"/metadata/labels/listed","value":"yes"}]')
    const labels: unknown = JSON.parse(
      await kubectl('get', 'deploy', 'web', '-o', 'jsonpath={.metadata.labels}'),
    )
    assert.deepEqual(labels, { tier: 'front', by: 'strategic', merged: 'yes', listed: 'yes' })
  },

  async 'label and annotate'({ kubectl }) {
    await kubectl('label', 'pod', 'shell', 'color=blue')
    await kubectl('annotate', 'pod', 'shell', 'note=seen')
    assert.equal(await kubectl('get', 'pods', '-l', 'color=blue', '-o', 'name'), 'pod/shell\n')
  },

  async describe({ node, kubectl }) {
    assert.match(
      await kubectl('describe', 'pod', 'shell'),
      /Image: +skerry-examples\/redis:7\.0\n(?:.*\n)*Events:\n(?:.*\n)*.*Started/,
    )
    assert.match(
      await kubectl('describe', 'deploy', 'web'),
      /Replicas: +2 desired \| 2 updated \| 2 total \| 2 available/,
    )
    assert.match(
      await kubectl('describe', 'node', node.name),
      /Ready +True(?:.*\n)*Allocated resources:/,
    )
  },

  async explain({ kubectl }) {
    assert.match(
      await kubectl('explain', 'deployment.spec.strategy'),
      /GROUP: +apps\n(?:.*\n)*FIELDS:\n(?:.*\n)*  rollingUpdate/,
    )
    assert.match(await kubectl('explain', 'pods', '--recursive'), /hostNetwork/)
  },

  async diff({ attempt, kubectl }) {
    await kubectl('create', 'configmap', 'compared', '--from-literal=k=one')
    const manifest = (value: string): string =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"compared"},"data":{"k":"${value}"}}`
    const same = await attempt(['diff', '-f', '-'], { input: manifest('one') })
    assert.deepEqual([same.exitCode, same.stdout], [0, ''], same.stderr)
    const other = await attempt(['diff', '-f', '-'], { input: manifest('two') })
    assert.equal(other.exitCode, 1)
    assert.match(other.stdout, /^-  k: one\n\+  k: two$/m)
  },

  async delete({ kubectl, attempt }) {
    await kubectl('create', 'configmap', 'gone')
    assert.equal(
      await kubectl('delete', 'configmap', 'gone'),
      'configmap "gone" deleted from verbs namespace\n',
    )
    assert.match(
      (await attempt(['get', 'cm', 'gone'])).stderr,
      /Error from server \(NotFound\): configmaps "gone" not found/,
    )
    await kubectl('run', 'brief', '--image=skerry-examples/redis:7.0', '--', 'sleep', '1000')
    await kubectl('wait', 'pod/brief', '--for=condition=Ready', '--timeout=60s')
    await kubectl('delete', 'pod', 'brief', '--now')
    assert.equal((await attempt(['get', 'pod', 'brief'])).exitCode, 1)
  },

  async scale({ kubectl }) {
    await kubectl('scale', 'deploy/web', '--replicas=3')
    await kubectl('wait', 'deploy/web', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=60s')
    await kubectl('scale', 'deploy/web', '--current-replicas=3', '--replicas=2')
    await kubectl('wait', 'deploy/web', '--for=jsonpath={.status.replicas}=2', '--timeout=60s')
  },

  async rollout({ kubectl }) {
    const image = (): Promise<string> =>
      kubectl('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')
    await kubectl('set', 'image', 'deploy/web', 'web=skerry-examples/guestbook:v2')
    const status = await kubectl('rollout', 'status', 'deploy/web', '--timeout=60s')
    assert.match(status, /deployment "web" successfully rolled out/)
    assert.match(await kubectl('rollout', 'history', 'deploy/web'), /^1 .*\n2 /m)
    await kubectl('rollout', 'undo', 'deploy/web')
    await kubectl('rollout', 'status', 'deploy/web', '--timeout=60s')
    assert.equal(await image(), 'skerry-examples/guestbook:v1')
    const before = await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')
    await kubectl('rollout', 'restart', 'deploy/web')
    await kubectl('rollout', 'status', 'deploy/web', '--timeout=60s')
    await kubectl('wait', ...before.trim().split('\n'), '--for=delete', '--timeout=60s')
    assert.match(await kubectl('get', 'deploy', 'web'), /2\/2/)
  },

  async expose({ cluster, node, kubectl }) {
    await kubectl('expose', 'deploy/web', '--port=80', '--target-port=8080')
    const ip = await kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}')
    const text = await cluster.waitFor('the service to answer', () =>
      fetchText(node.host, `http://${ip}/healthz`),
    )
    assert.equal(text, 'ok\n')
  },

  async logs({ cluster, kubectl }) {
    assert.match(
      await kubectl('logs', 'shell', '--tail=1', '--timestamps'),
      /^\d{4}-\d\d-\d\dT.* UTC \d{4}\n$/,
    )
    assert.match(
      await kubectl('logs', '-l', 'app=shell', '--prefix', '--tail=2'),
      /^\[pod\/shell\/main\] /,
    )
    await using follow = startWatch(cluster, ['-n', 'verbs', 'logs', '-f', 'shell', '--tail=0'])
    await follow.until('UTC')
    await cluster.waitFor('the pod to fall', async () => {
      const path = 'jsonpath={.status.containerStatuses[0].restartCount}'
      return (await kubectl('get', 'pod', 'crash', '-o', path)) === '0' ? undefined : true
    })
    assert.equal(await kubectl('logs', '--previous', 'crash'), 'before the fall\n')
  },

  async exec({ attempt, cluster }) {
    const run = (...command: string[]): ReturnType<Scene['attempt']> =>
      attempt(['exec', 'shell', '--', ...command])
    const said = await run('sh', '-c', 'echo out; echo err >&2; exit 7')
    assert.equal(said.stdout, 'out\n')
    assert.equal(said.stderr, 'err\ncommand terminated with exit code 7\n')
    assert.equal(said.exitCode, 7)
    const echoed = await attempt(['exec', '-i', 'shell', '--', 'cat'], { input: 'through stdin' })
    assert.equal(echoed.stdout, 'through stdin')
    const missing = await run('no-such-program')
    assert.notEqual(missing.exitCode, 0)
    assert.match(missing.stderr, /no-such-program/)
    assert.match(
      await onTerminal(cluster, "exec -it shell -- sh -c 'test -t 0 && echo a terminal'"),
      /a terminal/,
    )
  },

  async attach({ cluster }) {
    await using attached = startWatch(
      cluster,
      ['-n', 'verbs', 'attach', '-i', 'echo'],
      'said to cat\n',
    )
    await attached.until('said to cat')
  },

  async 'port-forward'({ cluster }) {
    await using forward = await startPortForward(cluster, ['-n', 'verbs', 'deploy/web', ':8080'])
    const address = `127.0.0.1:${forward.port}`
    for (let count = 0; count < 3; count++) {
      assert.equal(await fetchText(cluster.siteHost, `http://${address}/healthz`), 'ok\n')
    }
  },

  async 'cp of 100 MB, there and back'({ cluster, kubectl }) {
    const sent = randomBytes(100 * 1024 * 1024)
    const from = join(cluster.directory, 'sent')
    const to = join(cluster.directory, 'received')
    await writeFile(from, sent)
    await kubectl('cp', from, 'shell:/tmp/file')
    await kubectl('cp', 'shell:/tmp/file', to)
    assert.ok(sent.equals(await readFile(to)))
    await kubectl('exec', 'shell', '--', 'sh', '-c', 'echo > /tmp/file')
  },

  async run({ cluster, kubectl, attempt }) {
    const image = '--image=skerry-examples/redis:7.0'
    const flags = ['--rm', '-i', '--quiet', '--restart=Never']
    const said = await attempt(
      ['run', 'brief', image, ...flags, '--', 'sh', '-c', 'read x; echo "got $x"'],
      { input: 'it\n' },
    )
    assert.equal(said.stdout, 'got it\n', said.stderr)
    assert.equal((await attempt(['get', 'pod', 'brief'])).exitCode, 1)
    // A pod's output before kubectl attaches is lost, so this one waits for a key.
    const typed = ['-n', 'verbs', 'run', 'typed', image, '--rm', '-it', '--restart=Never', '--']
    const command = cluster.kubectlCommand([
      ...typed,
      'sh',
      '-c',
      'read x; test -t 1 && echo a tty',
    ])
    await using terminal = await openTerminal(cluster.siteHost, command, {
      env: cluster.kubectlEnv,
    })
    await terminal.until(/try pressing enter/)
    terminal.type('\r')
    await terminal.until(/^a tty\r$/m)
    assert.equal(await terminal.ended, 0)
    await kubectl('run', 'failing', image, '--restart=Never', '--', 'sh', '-c', 'exit 5')
    await kubectl('wait', 'pod/failing', '--for=jsonpath={.status.phase}=Failed', '--timeout=60s')
  },

  async wait({ kubectl, attempt }) {
    const late = await attempt(['wait', 'pod/shell', '--for=condition=Never', '--timeout=1s'])
    assert.match(late.stderr, /timed out waiting for the condition on pods\/shell/)
    await kubectl('create', 'configmap', 'leaving')
    const deleted = kubectl('wait', 'configmap/leaving', '--for=delete', '--timeout=30s')
    await kubectl('delete', 'configmap', 'leaving')
    await deleted
  },

  async events({ kubectl }) {
    // Events are sorted by time, and the scheduler's time is finer than the node's: within one second either
    // may come first.
    const told = await kubectl('events', '--for', 'pod/shell')
    assert.match(
      told,
      /^\S+ +Normal +Scheduled +Pod\/shell +Successfully assigned verbs\/shell to /m,
    )
    assert.match(told, /^\S+ +Normal +Started +Pod\/shell +Container started$/m)
    assert.match(await kubectl('get', 'events'), /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE/)
  },

  async auth({ kubectl, attempt }) {
    assert.equal(await kubectl('auth', 'can-i', 'delete', 'nodes'), 'yes\n')
    const nobody = await attempt(['auth', 'can-i', 'list', 'pods', '--as=somebody'])
    assert.deepEqual([nobody.stdout, nobody.exitCode], ['no\n', 1])
    await kubectl('create', 'rolebinding', 'viewer', '--clusterrole=view', '--user=somebody')
    assert.equal(await kubectl('auth', 'can-i', 'list', 'pods', '--as=somebody'), 'yes\n')
    assert.match(
      (await attempt(['get', 'secrets', '--as=somebody'])).stderr,
      /Error from server \(Forbidden\): secrets is forbidden: User "somebody" cannot list resource "secrets" in API group "" in the namespace "verbs"/,
    )
    assert.match(await kubectl('auth', 'whoami'), /system:masters/)
    assert.match(await kubectl('auth', 'can-i', '--list', '--as=somebody'), /pods\/log/)
  },

  async 'create token'({ cluster, kubectl }) {
    await kubectl('create', 'serviceaccount', 'robot')
    const token = await kubectl('create', 'token', 'robot', '--duration=10m')
    const answer = await cluster.siteHost.run(
      // It runs without the kubeconfig, whose client certificate would take precedence.
      [
        ...cluster.kubectlCommand([]).slice(0, 1),
        '--kubeconfig=/dev/null',
        '--server=https://127.0.0.1:6443',
        '--insecure-skip-tls-verify',
        `--token=${token.trim()}`,
        'auth',
        'whoami',
      ],
      { env: cluster.kubectlEnv },
    )
    assert.match(answer.stdout, /system:serviceaccount:verbs:robot/, answer.stderr)
  },

  async 'api-resources, api-versions and version'({ kubectl }) {
    assert.match(
      await kubectl('api-resources'),
      /^deployments +deploy +apps\/v1 +true +Deployment$/m,
    )
    assert.match(await kubectl('api-versions'), /^networking\.k8s\.io\/v1$/m)
    assert.match(
      await kubectl('version'),
      /Client Version: v1\.35\.\d+\n(?:.*\n)*Server Version: v1\.36\./,
    )
  },

  async 'taint and cordon'({ cluster, node, kubectl }) {
    const scheduled = async (name: string): Promise<string> => {
      await kubectl('run', name, '--image=skerry-examples/redis:7.0', '--', 'sleep', '1000')
      const path = 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'
      return cluster.waitFor(
        'the scheduler to say why not',
        async () => (await kubectl('get', 'pod', name, '-o', path)) || undefined,
      )
    }
    await kubectl('taint', 'node', node.name, 'keep=out:NoSchedule')
    assert.match(await scheduled('tainted'), /untolerated taint/)
    await kubectl('taint', 'node', node.name, 'keep-')
    await kubectl('wait', 'pod/tainted', '--for=condition=Ready', '--timeout=60s')
    await kubectl('cordon', node.name)
    assert.match(await scheduled('cordoned'), /unschedulable/)
    assert.match(await kubectl('get', 'nodes'), /Ready,SchedulingDisabled/)
    await kubectl('uncordon', node.name)
    await kubectl('wait', 'pod/cordoned', '--for=condition=Ready', '--timeout=60s')
  },

  async drain({ cluster, node, kubectl }) {
    await kubectl(
      'create',
      'poddisruptionbudget',
      'web',
      '--selector=app=web',
      '--max-unavailable=2',
    )
    const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--grace-period=1']
    await kubectl('drain', node.name, ...flags)
    await cluster.waitFor('no pod of the deployment to be there', async () => {
      const running = await kubectl(
        'get',
        'pods',
        '--field-selector',
        'status.phase=Running',
        '-o',
        'name',
      )
      return running === '' ? true : undefined
    })
    await kubectl('uncordon', node.name)
    await kubectl('rollout', 'status', 'deploy/web', '--timeout=60s')
  },
}

interface Watch extends AsyncDisposable {
  /** Resolves when the output holds the text. */
  until(text: string): Promise<void>
}

/** Starts a kubectl that does not end by itself, and records its output. */
function startWatch(cluster: ClusterOnHosts, args: readonly string[], input?: string): Watch {
  const child = cluster.siteHost.start(cluster.kubectlCommand(args), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...cluster.kubectlEnv },
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('Cannot start kubectl: no pipes')
  if (input !== undefined) stdin.write(input)
  let output = ''
  stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exited = once(child, 'exit')
  return {
    async until(text) {
      await cluster.waitFor(
        `"${text}" from kubectl ${args.join(' ')}`,
        async () => (output.includes(text) ? true : undefined),
        { timeoutMs: 20_000 },
      )
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Runs kubectl on its own terminal, as a person does. */
async function onTerminal(cluster: ClusterOnHosts, command: string): Promise<string> {
  const kubectl = cluster.kubectlCommand(['-n', 'verbs']).join(' ')
  const { stdout } = await cluster.siteHost.run(
    ['script', '-qec', `${kubectl} ${command}`, '/dev/null'],
    {
      env: cluster.kubectlEnv,
      timeoutMs: 30_000,
    },
  )
  return stdout
}
