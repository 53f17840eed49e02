import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ClusterOnHosts, type EdgeNode } from '../../e2e/cluster-on-hosts.ts'
import { RoleProcess } from '../../e2e/role-process.ts'
import { csiPrograms, type CsiProgram } from './csi-programs.ts'

export const driverName = 'hostpath.csi.k8s.io'
export const image = 'skerry-examples/guestbook:v1'

/** A site with a node, on which the driver and its registrar run as a pod; its other programs run next to the site. */
export class CsiScene implements AsyncDisposable {
  readonly cluster: ClusterOnHosts
  readonly node: EdgeNode
  readonly kubeletDirectory: string
  readonly #driverDirectory: string

  static async start(): Promise<CsiScene> {
    await using stack = new AsyncDisposableStack()
    const cluster = stack.use(await ClusterOnHosts.start())
    const node = await cluster.addNode(2)
    const scene = new CsiScene(cluster, node)
    stack.move()
    return scene
  }

  /** Starts the driver, and waits until the site knows that the node has it. */
  async startDriver(): Promise<void> {
    await mkdir(this.#driverDirectory, { recursive: true })
    await this.cluster.apply(this.#manifest())
    await this.until('the driver in CSINode', async () =>
      (await this.drivers()).includes(driverName),
    )
  }

  private constructor(cluster: ClusterOnHosts, node: EdgeNode) {
    this.cluster = cluster
    this.node = node
    this.kubeletDirectory = join(cluster.directory, node.name, 'kubelet')
    this.#driverDirectory = join(cluster.directory, 'driver')
  }

  get socket(): string {
    return join(this.kubeletDirectory, 'plugins', 'csi-hostpath', 'csi.sock')
  }

  /** Starts one of the driver's programs that speak with the API. */
  async startSidecar(name: CsiProgram, ...flags: string[]): Promise<void> {
    const role = new RoleProcess({
      host: this.cluster.siteHost,
      name,
      command: [join(csiPrograms, name), `--kubeconfig=${this.cluster.kubeconfig}`, ...flags],
      logFile: join(this.cluster.directory, `${name}.log`),
    })
    this.cluster.roles.push(role)
    await role.start()
  }

  async drivers(): Promise<string> {
    const path = 'jsonpath={.spec.drivers[*].name}'
    return this.cluster.kubectl('get', 'csinode', this.node.name, '--ignore-not-found', '-o', path)
  }

  async until(what: string, isSo: () => Promise<boolean>, timeoutMs = 120_000): Promise<void> {
    const look = async (): Promise<true | undefined> => ((await isSo()) ? true : undefined)
    const diagnose = async (): Promise<string> => {
      const logs = ['logs', '-n', 'kube-system', 'driver', '--all-containers', '--tail=20']
      const { stdout, stderr } = await this.cluster.tryKubectl(logs)
      return `${stdout}${stderr}\n${await this.cluster.diagnose()}`
    }
    await this.cluster.waitFor(what, look, { timeoutMs, diagnose })
  }

  async untilReady(pod: string): Promise<void> {
    await this.cluster.kubectl('wait', `pod/${pod}`, '--for=condition=Ready', '--timeout=100s')
  }

  /** Runs a shell in the pod, and returns what it printed. */
  async inPod(pod: string, script: string): Promise<string> {
    return (await this.cluster.kubectl('exec', pod, '--', 'sh', '-c', script)).trim()
  }

  /** Returns the mounts of the kubelet's directory on the node. */
  async mounts(): Promise<string[]> {
    const { stdout } = await this.node.host.run(['cat', '/proc/self/mounts'])
    return stdout.split('\n').filter((line) => line.includes('kubernetes.io~csi'))
  }

  async removePod(name: string): Promise<void> {
    await this.cluster.kubectl('delete', 'pod', name, '--grace-period=1', '--timeout=100s')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
  }

  /**
   * The driver needs programs that small images lack, so it runs in the node's root, in which the kubelet's directory is
   * mounted so that its mounts reach the node.
   */
  #manifest(): string {
    const { kubeletDirectory, socket } = this
    const program = (name: CsiProgram, ...flags: string[]): string =>
      JSON.stringify(['/bin/busybox', 'chroot', '/host', join(csiPrograms, name), ...flags])
    const registrar = program(
      'node-driver-registrar',
      `--csi-address=${socket}`,
      `--kubelet-registration-path=${socket}`,
      `--plugin-registration-path=${join(kubeletDirectory, 'plugins_registry')}`,
    )
    const plugin = program(
      'hostpathplugin',
      `--drivername=${driverName}`,
      `--endpoint=unix://${socket}`,
      `--nodeid=${this.node.name}`,
      `--statedir=${this.#driverDirectory}`,
      '--enable-attach',
      '--check-volume-lifecycle',
    )
    const container = (name: string, command: string): string => `
    - name: ${name}
      image: ${image}
      command: ${command}
      securityContext: { privileged: true, runAsUser: 0 }
      volumeMounts:
        - { name: root, mountPath: /host }
        - { name: kubelet, mountPath: '/host${kubeletDirectory}', mountPropagation: Bidirectional }
        - { name: plugin, mountPath: /unused }`
    return `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: { name: ${driverName} }
spec:
  attachRequired: true
  podInfoOnMount: true
  fsGroupPolicy: File
  volumeLifecycleModes: [Persistent, Ephemeral]
---
apiVersion: v1
kind: Pod
metadata: { name: driver, namespace: kube-system }
spec:
  nodeName: ${this.node.name}
  terminationGracePeriodSeconds: 1
  containers:${container('plugin', plugin)}${container('registrar', registrar)}
  volumes:
    - { name: root, hostPath: { path: / } }
    - { name: kubelet, hostPath: { path: '${kubeletDirectory}' } }
    - name: plugin
      hostPath: { path: '${join(kubeletDirectory, 'plugins', 'csi-hostpath')}', type: DirectoryOrCreate }
`
  }
}
