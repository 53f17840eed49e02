# With podReplacementPolicy Failed a pod is replaced when it has ended.
Quiet: 1500ms

### it runs on a node
create
  kind: Node
  metadata: {name: ${ns}}
create
  kind: Job
  metadata: {name: work}
  spec:
    podReplacementPolicy: Failed
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
bind ${ns}
run

### the pod is deleted
delete pods/work-<1>

### it has ended
fail 1
pass 12s
