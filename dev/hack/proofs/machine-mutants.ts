import type { Mutant } from './mutant.ts'

const runSteps = 'packages/provisioning/engine/run-steps.ts'
const runStepsTest = 'packages/provisioning/engine/run-steps.test.ts'
const archive = 'packages/offline-package/image-archive.ts'
const archiveTest = 'packages/offline-package/image-archive.test.ts'
const way = 'roles/machine/join/way-to-server.ts'
const wayTest = 'roles/machine/join/way-to-server.test.ts'

/** The mutants of promises about hostile machines, and about machines that join through a proxy. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'a machine proves its hub and its token through a proxy that wants a login and opens TLS',
    test: wayTest,
    file: way,
    find: 'inspectedTls: isInspected }',
    replace: 'inspectedTls: false }',
  },
  {
    proof: 'get the proxy with its login, and reach the cluster directly',
    test: wayTest,
    file: way,
    find: 'await context.shell.write(proxyFiles.environment, environment, 0o600)',
    replace: 'await context.shell.write(proxyFiles.environment, environment, 0o644)',
  },
  {
    proof: 'a hub behind a proxy is asked through it, whatever its password has in it',
    test: 'roles/program/install-script.test.ts',
    file: 'roles/program/install-script.ts',
    find: '  printf \'%s\' "$1" | od -An',
    replace: '  printf "$1" | od -An',
  },
  {
    proof: 'a way of a machine is refused with',
    test: 'roles/program/machine-line.test.ts',
    file: 'roles/program/line-proxy.ts',
    find: "  if (text.includes('@')) {",
    replace: '  if (false) {',
  },
  {
    proof: 'ends in an error',
    test: 'packages/provisioning/shell/hostile-machines.test.ts',
    file: 'packages/provisioning/shell/bounded-output.ts',
    find: 'if (this.#bytes > this.#bytesMax) this.#onExceeded()',
    replace: 'if (false) this.#onExceeded()',
  },
  {
    proof: 'a machine that prints endlessly fills neither the status nor a log',
    test: runStepsTest,
    file: runSteps,
    find: '    return this.#text.slice(-bounds.logBytesMax)\n',
    replace: '    return this.#text\n',
  },
  {
    proof:
      'findings stand in the status one by one, bounded and bare of secrets, until the next attempt',
    test: runStepsTest,
    file: runSteps,
    find: '.map((each) => redactor.redact(each).slice(0, bounds.findingCharsMax))',
    replace: '.map((each) => each.slice(0, bounds.findingCharsMax))',
  },
  {
    proof: 'machines of one name or one machine id clash, and each finding names the other',
    test: 'packages/provisioning/ensure/preflight-clashes.test.ts',
    file: 'packages/provisioning/ensure/preflight-clashes.ts',
    find: 'return clashes(own, { isSameName: node === own.node, isSameId: isSame, other: address })',
    replace: 'return clashes(own, { isSameName: false, isSameId: isSame, other: address })',
  },
  {
    proof:
      'a job of one namespace reaches no cluster of another, and a forged part of it does nothing',
    test: 'packages/provisioning/engine/edge-job-controller.test.ts',
    file: 'packages/provisioning/engine/edge-job-cluster-controller.ts',
    find: 'context.informer(edgeJobResource).get({ namespace, name: spec.job })',
    replace:
      'context.informer(edgeJobResource).list().find((each) => each.metadata.name === spec.job)',
  },
  {
    proof: 'a log never replaces a ConfigMap that somebody else has made',
    test: 'packages/provisioning/engine/edge-cluster-controller.test.ts',
    file: 'packages/provisioning/engine/step-log.ts',
    find: '    if (known !== undefined && !isOurs) throw',
    replace: '    if (false && !isOurs) throw',
  },
  {
    proof:
      'the first of two EdgeClusters has a name; the other gets no token and takes nothing away',
    test: 'roles/hub/provisioning/hub-side.test.ts',
    file: 'roles/hub/provisioning/name-claims.ts',
    find: "  if (known?.data?.['owner'] !== ownerOf(edge)) throw taken(clusterName, known)\n",
    replace: '',
  },
  {
    proof: 'a name that leads to',
    test: 'packages/provisioning/shell/machines-only.test.ts',
    file: 'packages/provisioning/shell/machines-only.ts',
    find: '    for (const each of resolved) {',
    replace: '    for (const each of [ip]) {',
  },
  {
    proof: 'in an archive becomes no file of the package',
    test: archiveTest,
    file: archive,
    find: "    if (type === 'file') await each(",
    replace: "    if (type !== 'directory') await each(",
  },
  {
    proof: 'a header that declares gigabytes is refused before they are read',
    test: archiveTest,
    file: archive,
    find: '`Cannot add image archive ${path}: ',
    replace: '`Cannot add: ',
  },
]
