/** The ConfigMap in which a hub lists the programs that it holds for machines. */
export const programsListKey = Object.freeze({ namespace: 'kube-public', name: 'machine-programs' })
