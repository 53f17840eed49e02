import type { Mutant } from './mutant.ts'

/**
 * The mutants of promises about starts on full and damaged disks, last catches, and answers that no server
 * may pass on.
 */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'a site that was killed starts again on a full disk, or says in one line what it cannot write',
    test: 'roles/control-plane/full-disk.test.ts',
    msMax: 300_000,
    file: 'roles/control-plane/admin-kubeconfig.ts',
    find: 'if (!(await isThere(path, config))) await writeKubeconfig(path, config)',
    replace: 'await writeKubeconfig(path, config)',
  },
  {
    proof:
      'a hub that was killed starts again on a full disk, or says in one line what it cannot write',
    test: 'roles/control-plane/full-disk.test.ts',
    msMax: 300_000,
    file: 'roles/control-plane/admin-kubeconfig.ts',
    find: 'if (!(await isThere(path, config))) await writeKubeconfig(path, config)',
    replace: 'await writeKubeconfig(path, config)',
  },
  {
    proof:
      'restoring onto a full disk is refused in one line with the path, and leaves the old store',
    test: 'roles/control-plane/full-disk.test.ts',
    msMax: 300_000,
    file: 'packages/store/sqlite-backup.ts',
    find: 'throw shownFault(error, `restore to ${targetPath}`)',
    replace: 'throw error',
  },
  {
    proof:
      'a start continues past objects that cannot be read, names them, and they can be deleted unread',
    test: 'roles/control-plane/require-store.test.ts',
    file: 'packages/apiserver/contract/unreadable-object.ts',
    find: 'if (!(cause instanceof UnreadableObjectError)) throw error',
    replace: 'if (cause instanceof UnreadableObjectError) throw error',
  },
  {
    proof:
      'a handler that throws, at once or later, ends its request or its connection, and not the process',
    test: 'packages/base/http/last-catch.test.ts',
    file: 'packages/base/http/last-catch.ts',
    find: 'if (running instanceof Promise) running.catch(fail)',
    replace: 'void running',
  },
  {
    proof: 'ends its stream only, over HTTP/2',
    only: 'a handler that throws',
    test: 'packages/apiserver/http/last-catch.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: "stream.respond({ ':status': 500 }, { endStream: true })",
    replace: "stream.respond({ ':status': 200 }, { endStream: true })",
  },
  {
    proof: 'ends its session only, after an upgrade',
    test: 'packages/apiserver/http/last-catch.test.ts',
    file: 'packages/base/http/last-catch.ts',
    find: 'if (running instanceof Promise) running.catch(fail)',
    replace: 'void running',
  },
  {
    proof: 'that no server may pass on is 502, and names the peer',
    test: 'packages/apiserver/subresources/backend/odd-answers.test.ts',
    file: 'packages/apiserver/contract/status-answer.ts',
    find: 'code: 502',
    replace: 'code: 500',
  },
  {
    proof: 'a status that no server may pass on is 502, and names the cluster or its service',
    test: 'packages/gateway/proxy/odd-agents.test.ts',
    file: 'packages/gateway/proxy/tunnel-refusal.ts',
    find: 'the answer of cluster "${cluster}"',
    replace: 'the answer',
  },
  {
    proof: 'an odd answer to an HTTP probe fails that probe only, and in time',
    test: 'packages/kubelet/probes/odd-answers.test.ts',
    file: 'packages/kubelet/probes/http-get.ts',
    find: 'clock.setTimer(timeoutMs, () => scope.abort(late))',
    replace: 'clock.setTimer(timeoutMs, () => undefined)',
  },
  {
    proof: 'odd frames in answer to a gRPC probe fail that probe only, and in time',
    test: 'packages/kubelet/probes/odd-answers.test.ts',
    file: 'packages/kubelet/probes/grpc-health.ts',
    find: '{ timeoutMs }, signal',
    replace: '{ timeoutMs: 0 }, signal',
  },
  {
    proof:
      'bodies that others may not send are accepted from an administrator of the whole cluster',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/request/pipeline.ts',
    find: `const isBounded = !user.groups.includes('system:masters')`,
    replace: 'const isBounded = true',
  },
  {
    proof: 'a cluster has its services below its own host name, too',
    test: 'roles/hub/hub-services.test.ts',
    file: 'packages/apiserver/contract/hub-cookies.ts',
    find: '(?:__host-|__secure-)?',
    replace: '(?:__secure-)?',
  },
  {
    proof: 'a node reaches the objects that ephemeral containers of its own pods use, and no more',
    test: 'packages/apiserver/authz/authz.test.ts',
    file: 'packages/api/pod-references.ts',
    find: `['initContainers', 'containers', 'ephemeralContainers'].flatMap(`,
    replace: `['initContainers', 'containers'].flatMap(`,
  },
  {
    proof: 'a site without a network starts, and publishes its address when it has one',
    test: 'roles/site/objects/site-objects.test.ts',
    file: 'roles/site/objects/api-endpoints.ts',
    find: 'if (masters.length === 0) return',
    replace: '',
  },
]
