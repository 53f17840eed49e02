# A namespace that is deleted tells what keeps it; nothing else is deleted while there are pods.
Quiet: 1500ms
Show: namespaces, configmaps, secrets

### a pod keeps it
create
  kind: ConfigMap
  metadata: {name: kept, finalizers: [example.com/kept, example.com/both]}
create
  kind: ConfigMap
  metadata: {name: also-kept, finalizers: [example.com/both]}
create
  kind: Secret
  metadata: {name: going}
create
  kind: Pod
  metadata: {name: web, finalizers: [example.com/pod]}
  spec: {containers: [{name: main, image: "a:1"}]}
delete namespaces/${ns}
wait namespaces/${ns} status.conditions.NamespaceContentRemaining

### the pod goes
patch pods/web {metadata: {finalizers: null}}
wait secrets/going gone
wait namespaces/${ns} status.conditions.NamespaceContentRemaining.message = Some resources are remaining: configmaps. has 2 resource instances

### one is left
patch configmaps/also-kept {metadata: {finalizers: null}}
wait namespaces/${ns} status.conditions.NamespaceContentRemaining.message = Some resources are remaining: configmaps. has 1 resource instances

### nothing is left
patch configmaps/kept {metadata: {finalizers: null}}
wait namespaces/${ns} gone
