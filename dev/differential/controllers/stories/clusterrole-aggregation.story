# A role that others add up to.
Show: clusterroles, events

### two parts
create
  kind: ClusterRole
  metadata: {name: aggregation-sum}
  aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregation-a: "yes"}}, {matchLabels: {aggregation-b: "yes"}}]}
  rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
  ---
  kind: ClusterRole
  metadata: {name: aggregation-y, labels: {aggregation-a: "yes"}}
  rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
  ---
  kind: ClusterRole
  metadata: {name: aggregation-x, labels: {aggregation-b: "yes", aggregation-a: "yes"}}
  rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [list]}]
wait clusterroles/aggregation-sum rules.1

### a part changes
patch clusterroles/aggregation-x {rules: [{apiGroups: [batch], resources: [jobs], verbs: [list]}]}

### a part leaves
patch clusterroles/aggregation-y {metadata: {labels: {aggregation-a: null}}}

### somebody writes into the sum
patch clusterroles/aggregation-sum {rules: []}
