import type { Mutant } from './mutant.ts'

const dialer = 'packages/cluster-agent/forward/address-dialer.ts'
const dialTest = 'roles/hub/provisioning/dial-cluster.test.ts'

/** The mutants of promises about machines that the hub reaches through others. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'an agent dials nothing that its operator does not allow, and the refusal names the option',
    test: dialTest,
    file: dialer,
    find: 'if (!coversDial(await dialer.allowed(), asked)) {',
    replace: 'if (false) {',
  },
  {
    proof: 'an agent dials allowed addresses and no others; its own machine, never',
    test: dialTest,
    file: dialer,
    find: 'const isOwn = ownAddresses().some(sameAddressAs(each))',
    replace: 'const isOwn = false',
  },
  {
    proof:
      'an EdgeCluster dials through clusters of its namespace, and those whose administrator names it',
    test: dialTest,
    file: 'roles/hub/provisioning/dial-cluster.ts',
    find: "  throw new ShellError('refused', text)",
    replace: '  void text',
  },
  {
    proof: 'a jump host that forwards elsewhere is found out before a password is sent',
    test: 'packages/provisioning/shell/hostile-jumps.test.ts',
    file: 'packages/provisioning/shell/connect-ssh.ts',
    find: 'attempt.isRefused = !isHostKeyAccepted(attempt.hostKey)',
    replace: 'attempt.isRefused = false',
  },
]
