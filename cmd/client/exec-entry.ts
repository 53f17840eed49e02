import type { JsonObject } from '@skerry/api'

/**
 * A user's `exec` in a kubeconfig: `command` starts this program, `words` are what it is asked. In the version that
 * every kubectl since 1.11 knows; v1 came with 1.22 and says no more.
 */
export function execEntry(
  [command = '', ...own]: readonly string[],
  words: readonly string[],
): JsonObject {
  return {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command,
    args: [...own, ...words],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'skerry has written this; where the program has moved, let it write it again.',
  }
}
