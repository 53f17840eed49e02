import type { Command } from 'commander'

/** Adds them to a role; `prefix` is its default, which no other role has. */
export function withEtcdOptions(command: Command, prefix: string): Command {
  return command
    .option(
      '--etcd-servers <urls>',
      'keep the state in this etcd; URLs separated by commas',
      toUrls,
    )
    .option('--etcd-cafile <file>', "authority of etcd, PEM (default: the system's authorities)")
    .option('--etcd-certfile <file>', 'client certificate for etcd, PEM')
    .option('--etcd-keyfile <file>', 'its key, PEM')
    .option('--etcd-prefix <path>', 'prefix of all keys', prefix)
}

function toUrls(text: string): string[] {
  return text.split(',').filter((url) => url !== '')
}
