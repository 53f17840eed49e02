//! A program on kube-rs that uses a cluster as its controllers do: a derived definition is applied,
//! a watcher fills a reflector, a Controller owns objects, a finalizer is taken off. It reads
//! KUBECONFIG, works in a namespace of its own, and prints one line per check.
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResource, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::PartialObjectMeta,
    discovery::Discovery,
    runtime::{
        Controller, WatchStreamExt,
        conditions::is_crd_established,
        controller::Action,
        finalizer::{Event, finalizer},
        reflector,
        wait::await_condition,
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "rs.example.com", version = "v1", kind = "Beacon", namespaced)]
#[kube(status = "BeaconStatus", shortname = "bc")]
#[kube(scale(
    spec_replicas_path = ".spec.count",
    status_replicas_path = ".status.lit"
))]
struct BeaconSpec {
    #[schemars(range(min = 0, max = 10))]
    count: i32,
    color: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct BeaconStatus {
    lit: i32,
}

struct Scene {
    client: Client,
    namespace: String,
}

impl Scene {
    fn beacons(&self) -> Api<Beacon> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
    fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

#[tokio::main]
async fn main() {
    let client = Client::try_default().await.expect("a client");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let wanted = Namespace {
        metadata: kube::core::ObjectMeta {
            generate_name: Some("kube-rs-".into()),
            ..Default::default()
        },
        ..Default::default()
    };
    let namespace = namespaces
        .create(&PostParams::default(), &wanted)
        .await
        .expect("a namespace")
        .name_any();
    let scene = Arc::new(Scene {
        client,
        namespace: namespace.clone(),
    });
    let mut failed = 0;
    macro_rules! check {
        ($name:literal, $run:ident) => {
            match tokio::time::timeout(Duration::from_secs(30), $run(scene.clone())).await {
                Ok(Ok(())) => println!("ok {}", $name),
                Ok(Err(error)) => {
                    failed += 1;
                    println!("FAIL {}: {error}", $name)
                }
                Err(_) => {
                    failed += 1;
                    println!("FAIL {}: it took too long", $name)
                }
            }
        };
    }
    check!(
        "a derived definition is applied and established",
        definition
    );
    check!("discovery", discovery);
    check!("server-side apply, status, scale, refusals", objects);
    check!("watcher and reflector", reflected);
    check!("watcher with initial events in the stream", streaming_lists);
    check!("metadata watcher", metadata);
    check!("Controller with owned objects", controller);
    check!("finalizer", finalized);
    check!("pages, entries, delete collection", collections);
    let _ = namespaces
        .delete(&namespace, &DeleteParams::default())
        .await;
    let definitions: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let _ = definitions
        .delete(Beacon::crd_name(), &DeleteParams::default())
        .await;
    if failed > 0 {
        std::process::exit(1);
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(got: T, wanted: T) -> Outcome {
    if got == wanted {
        Ok(())
    } else {
        Err(format!("got {got:?}, expected {wanted:?}").into())
    }
}

fn beacon(name: &str, count: i32) -> Beacon {
    Beacon::new(name, BeaconSpec { count, color: None })
}

fn force() -> PatchParams {
    PatchParams::apply("kube-rs").force()
}

async fn definition(scene: Arc<Scene>) -> Outcome {
    let definitions: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    definitions
        .patch(Beacon::crd_name(), &force(), &Patch::Apply(Beacon::crd()))
        .await?;
    await_condition(definitions, Beacon::crd_name(), is_crd_established()).await?;
    Ok(())
}

async fn discovery(scene: Arc<Scene>) -> Outcome {
    for found in [
        Discovery::new(scene.client.clone()).run().await?,
        Discovery::new(scene.client.clone())
            .run_aggregated()
            .await?,
    ] {
        let group = found
            .get("rs.example.com")
            .ok_or("the group is not there")?;
        let (resource, capabilities) = group
            .recommended_kind("Beacon")
            .ok_or("the kind is not there")?;
        expect(
            (resource.plural.as_str(), capabilities.subresources.len()),
            ("beacons", 2),
        )?;
    }
    Ok(())
}

async fn objects(scene: Arc<Scene>) -> Outcome {
    let api = scene.beacons();
    api.patch("a", &force(), &Patch::Apply(beacon("a", 1)))
        .await?;
    match api
        .patch(
            "a",
            &PatchParams::apply("other"),
            &Patch::Apply(beacon("a", 2)),
        )
        .await
    {
        Err(kube::Error::Api(status)) => {
            expect((status.code, status.reason.as_str()), (409, "Conflict"))?
        }
        other => return Err(format!("a second manager: {other:?}").into()),
    }
    let plain = PatchParams::default();
    api.patch_status("a", &plain, &Patch::Merge(json!({"status": {"lit": 1}})))
        .await?;
    let scale = api
        .patch_scale("a", &plain, &Patch::Merge(json!({"spec": {"replicas": 4}})))
        .await?;
    expect(scale.status.map(|status| status.replicas), Some(1))?;
    expect(
        api.get_scale("a")
            .await?
            .spec
            .and_then(|spec| spec.replicas),
        Some(4),
    )?;
    match api.create(&PostParams::default(), &beacon("b", 11)).await {
        Err(kube::Error::Api(status)) => {
            expect((status.code, status.reason.as_str()), (422, "Invalid"))?
        }
        other => return Err(format!("a count of 11: {other:?}").into()),
    }
    let mut entry = api.entry("c").await?.or_insert(|| beacon("c", 1));
    entry.commit(&PostParams::default()).await?;
    entry.get_mut().spec.color = Some("red".into());
    entry.commit(&PostParams::default()).await?;
    expect(api.get("c").await?.spec.color, Some("red".into()))
}

async fn reflected(scene: Arc<Scene>) -> Outcome {
    follow(scene, watcher::Config::default().any_semantic(), "listed").await
}

async fn streaming_lists(scene: Arc<Scene>) -> Outcome {
    follow(
        scene,
        watcher::Config::default().streaming_lists(),
        "streamed",
    )
    .await
}

async fn follow(scene: Arc<Scene>, config: watcher::Config, name: &str) -> Outcome {
    let (reader, writer) = reflector::store();
    let stream = reflector(writer, watcher(scene.config_maps(), config))
        .default_backoff()
        .touched_objects();
    let task = tokio::spawn(stream.try_for_each(|_| async { Ok(()) }));
    reader.wait_until_ready().await?;
    let key = reflector::ObjectRef::<ConfigMap>::new(name).within(&scene.namespace);
    let api = scene.config_maps();
    api.patch(
        name,
        &force(),
        &Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"n": "1"},
        })),
    )
    .await?;
    while reader.get(&key).is_none() {
        pause().await
    }
    api.delete(name, &DeleteParams::default()).await?;
    while reader.get(&key).is_some() {
        pause().await
    }
    task.abort();
    Ok(())
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

async fn metadata(scene: Arc<Scene>) -> Outcome {
    let api: Api<PartialObjectMeta<Beacon>> =
        Api::namespaced(scene.client.clone(), &scene.namespace);
    let mut stream = watcher(api, watcher::Config::default())
        .default_backoff()
        .applied_objects()
        .boxed();
    let first = stream.try_next().await?.ok_or("no events")?;
    expect(
        first.types.map(|types| types.kind),
        Some("PartialObjectMetadata".to_string()),
    )
}

#[derive(Debug)]
struct Failed(kube::Error);
impl std::fmt::Display for Failed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}
impl std::error::Error for Failed {}
impl From<kube::Error> for Failed {
    fn from(error: kube::Error) -> Self {
        Failed(error)
    }
}

async fn reconcile(beacon: Arc<Beacon>, scene: Arc<Scene>) -> Result<Action, Failed> {
    let name = beacon.name_any();
    let secrets: Api<Secret> = Api::namespaced(scene.client.clone(), &scene.namespace);
    let owned = Secret {
        metadata: kube::core::ObjectMeta {
            name: Some(name.clone()),
            owner_references: Some(beacon.controller_owner_ref(&()).into_iter().collect()),
            ..Default::default()
        },
        string_data: Some(BTreeMap::from([(
            "count".into(),
            beacon.spec.count.to_string(),
        )])),
        ..Default::default()
    };
    secrets.patch(&name, &force(), &Patch::Apply(owned)).await?;
    let status = json!({"status": {"lit": beacon.spec.count}});
    scene
        .beacons()
        .patch_status(&name, &PatchParams::default(), &Patch::Merge(status))
        .await?;
    Ok(Action::requeue(Duration::from_secs(60)))
}

async fn controller(scene: Arc<Scene>) -> Outcome {
    let secrets: Api<Secret> = Api::namespaced(scene.client.clone(), &scene.namespace);
    let run = Controller::new(scene.beacons(), watcher::Config::default())
        .owns(secrets.clone(), watcher::Config::default())
        .run(
            reconcile,
            |_, _, _| Action::requeue(Duration::from_millis(100)),
            scene.clone(),
        );
    let task = tokio::spawn(run.for_each(|_| async {}));
    let api = scene.beacons();
    api.create(&PostParams::default(), &beacon("kept", 7))
        .await?;
    let lit = |found: Option<&Beacon>| {
        found
            .and_then(|b| b.status.as_ref())
            .is_some_and(|s| s.lit == 7)
    };
    await_condition(api.clone(), "kept", lit).await?;
    let first = secrets.get("kept").await?.uid();
    secrets.delete("kept", &DeleteParams::default()).await?;
    // The controller makes again what somebody took away.
    while secrets
        .get_opt("kept")
        .await?
        .and_then(|s| s.uid())
        .is_none_or(|uid| Some(uid) == first)
    {
        pause().await
    }
    api.delete("kept", &DeleteParams::background()).await?;
    while secrets.get_opt("kept").await?.is_some() {
        pause().await
    }
    task.abort();
    Ok(())
}

async fn finalized(scene: Arc<Scene>) -> Outcome {
    let api = scene.config_maps();
    let made = api
        .patch(
            "final",
            &force(),
            &Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap"})),
        )
        .await?;
    let step = |object: ConfigMap| {
        finalizer(
            &api,
            "example.com/final",
            Arc::new(object),
            |event| async move {
                Ok::<_, Failed>(match event {
                    Event::Apply(_) => Action::await_change(),
                    Event::Cleanup(_) => Action::requeue(Duration::from_secs(1)),
                })
            },
        )
    };
    step(made).await?;
    let held = api.get("final").await?;
    expect(
        held.finalizers().to_vec(),
        vec!["example.com/final".to_string()],
    )?;
    api.delete("final", &DeleteParams::default()).await?;
    step(api.get("final").await?).await?;
    expect(api.get_opt("final").await?.is_none(), true)
}

async fn collections(scene: Arc<Scene>) -> Outcome {
    let api = scene.config_maps();
    for number in 0..12 {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"page": "yes"}}});
        api.patch(&format!("page-{number}"), &force(), &Patch::Apply(object))
            .await?;
    }
    let mut query = ListParams::default().labels("page=yes").limit(5);
    let mut seen = 0;
    loop {
        let page = api.list(&query).await?;
        seen += page.items.len();
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => query.continue_token = Some(token),
            _ => break,
        }
    }
    expect(seen, 12)?;
    api.delete_collection(
        &DeleteParams::default(),
        &ListParams::default().labels("page=yes"),
    )
    .await?;
    let resource = kube::api::ApiResource::erase::<ConfigMap>(&());
    let dynamic: Api<DynamicObject> =
        Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    expect(
        dynamic
            .list(&ListParams::default().labels("page=yes"))
            .await?
            .items
            .len(),
        0,
    )
}
