import type { JsonObject } from '@skerry/api'

/** A user's `exec` in a kubeconfig: `command` starts this program, `words` are what it is asked. */
export function execEntry(
  [command = '', ...own]: readonly string[],
  words: readonly string[],
): JsonObject {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args: [...own, ...words],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'skerry has written this; where the program has moved, let it write it again.',
  }
}
