// Writes what Flux's own code makes of the cases of Sluice's tests: the cases are read from the files of the answers, which
// are then written anew. It is run in place of the tests of helm-controller's package internal/reconcile, with GOLDEN
// naming the directory of the answers:
//
//	rm internal/reconcile/*_test.go && cp golden_test.go internal/reconcile/ && GOLDEN=<dir> go test ./internal/reconcile
//
// The answers are those of helm-controller 1.6.3 with helm.sh/helm/v4 4.2.4 in place of Flux's fork of it.
package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	chartloader "helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutilv2 "helm.sh/helm/v4/pkg/chart/v2/util"
	helmreleasecommon "helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	helmstorage "helm.sh/helm/v4/pkg/storage"
	helmdriver "helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/chartutil"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/helm-controller/internal/action"
	"github.com/fluxcd/helm-controller/internal/digest"
	"github.com/fluxcd/helm-controller/internal/kube"
	"github.com/fluxcd/helm-controller/internal/postrender"
	"github.com/fluxcd/helm-controller/internal/release"
)

type object = map[string]any

func write(t *testing.T, name string, cases any) {
	text, err := json.MarshalIndent(cases, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("GOLDEN"), name), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func inputs(t *testing.T, name string, into any) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("GOLDEN"), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(name, err)
	}
}

func TestGoldenValues(t *testing.T) {
	var known []struct {
		Values string `json:"values"`
	}
	inputs(t, "values.json", &known)
	var cases []object
	for _, k := range known {
		text := k.Values
		values, err := common.ReadValues([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		var encoded bytes.Buffer
		if len(values) > 0 {
			if err := chartutil.Encode(&encoded, values, chartutil.SortMapSlice); err != nil {
				t.Fatal(err)
			}
		}
		cases = append(cases, object{"values": text, "encoded": encoded.String(),
			"digest": chartutil.DigestValues(digest.Canonical, values).String()})
	}
	write(t, "values.json", cases)
}

func TestGoldenReleases(t *testing.T) {
	var known []struct {
		Release string `json:"release"`
	}
	inputs(t, "releases.json", &known)
	var cases []object
	for i, k := range known {
		text := []byte(k.Release)
		var rls helmrelease.Release
		if err := json.Unmarshal(text, &rls); err != nil {
			t.Fatal(string(text), err)
		}
		stored, err := json.Marshal(&rls)
		if err != nil {
			t.Fatal(err)
		}
		obs := release.ObserveRelease(&rls)
		if i%2 == 1 {
			obs.OCIDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		}
		var observed bytes.Buffer
		if err := obs.Encode(&observed); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, object{"release": string(text), "stored": string(stored), "ociDigest": obs.OCIDigest,
			"observed": observed.String(), "digest": release.Digest(digest.Canonical, obs).String()})
	}
	write(t, "releases.json", cases)
}

func TestGoldenPostRender(t *testing.T) {
	type known struct {
		Value string `json:"value"`
	}
	var all struct {
		PostRenderers  []known `json:"postRenderers"`
		CommonMetadata []known `json:"commonMetadata"`
	}
	inputs(t, "postrender.json", &all)
	var renderers, metadata []object
	for _, k := range all.PostRenderers {
		text := []byte(k.Value)
		var value []v2.PostRenderer
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		renderers = append(renderers, object{"value": string(text), "digest": postrender.Digest(digest.Canonical, value).String()})
	}
	for _, k := range all.CommonMetadata {
		text := []byte(k.Value)
		var value v2.CommonMetadata
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		metadata = append(metadata, object{"value": string(text), "digest": postrender.CommonMetadataDigest(digest.Canonical, &value).String()})
	}
	write(t, "postrender.json", object{"postRenderers": renderers, "commonMetadata": metadata})
}

func TestGoldenCharts(t *testing.T) {
	var charts []struct {
		Files  map[string]string `json:"files"`
		Values map[string]any    `json:"values"`
	}
	inputs(t, "charts.json", &charts)
	var cases []object
	for _, c := range charts {
		var names []string
		for name := range c.Files {
			names = append(names, name)
		}
		sort.Strings(names)
		var files []*archive.BufferedFile
		for _, name := range names {
			files = append(files, &archive.BufferedFile{Name: name, Data: []byte(c.Files[name])})
		}
		chart, err := chartloader.LoadFiles(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := chartutilv2.ProcessDependencies(chart, c.Values); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(chart)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, object{"files": c.Files, "values": c.Values, "chart": string(text)})
	}
	write(t, "charts.json", cases)
}

type objects struct {
	client.Client
	data map[string]map[string]string
}

func (o objects) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	switch obj := obj.(type) {
	case *corev1.Secret:
		if data, ok := o.data["Secret/"+key.Name]; ok {
			obj.Data = map[string][]byte{}
			for k, v := range data {
				obj.Data[k] = []byte(v)
			}
			return nil
		}
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	case *corev1.ConfigMap:
		if data, ok := o.data["ConfigMap/"+key.Name]; ok {
			obj.Data = data
			return nil
		}
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
	}
	return fmt.Errorf("unexpected %T", obj)
}

func TestGoldenReferences(t *testing.T) {
	var in struct {
		Objects map[string]map[string]string `json:"objects"`
		Cases   []struct {
			Values string                 `json:"values"`
			From   []meta.ValuesReference `json:"from"`
		} `json:"cases"`
	}
	inputs(t, "references.json", &in)
	var cases []object
	for _, c := range in.Cases {
		inline, err := common.ReadValues([]byte(c.Values))
		if err != nil {
			t.Fatal(err)
		}
		values, err := chartutil.ChartValuesFromReferences(context.TODO(), logr.Discard(), objects{data: in.Objects}, "shop", inline, c.From...)
		out := object{"values": c.Values, "from": c.From}
		if err != nil {
			out["error"] = err.Error()
		} else {
			var encoded bytes.Buffer
			if err := chartutil.Encode(&encoded, values, chartutil.SortMapSlice); err != nil {
				t.Fatal(err)
			}
			out["result"] = encoded.String()
		}
		cases = append(cases, out)
	}
	write(t, "references.json", object{"objects": in.Objects, "cases": cases})
}

// How many choices each part of a case has; the Rust test builds the same from the same numbers.
var choices = []int{7, 5, 2, 2, 4, 3, 3, 3, 3, 2, 3, 8, 2, 6}

func build(version int, status helmreleasecommon.Status, manifest string) *helmrelease.Release {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &helmrelease.Release{Name: "web", Namespace: "shop", Version: version, Manifest: manifest,
		Info:   &helmrelease.Info{FirstDeployed: at, LastDeployed: at, Status: status},
		Chart:  &helmchart.Chart{Metadata: &helmchart.Metadata{Name: "app", Version: "1.0.0", APIVersion: "v2"}},
		Config: map[string]any{"a": "b"}}
}

func decide(t *testing.T, c []int) string {
	obj := &v2.HelmRelease{}
	obj.Name, obj.Namespace, obj.Generation = "web", "shop", 2
	obj.Status.ObservedGeneration = 2
	status := []helmreleasecommon.Status{"", "deployed", "failed", "uninstalled", "pending-upgrade", "uninstalling", "superseded"}[c[0]]
	current := build(2, status, "current")
	var stored []*helmrelease.Release
	if c[0] > 0 {
		stored = append(stored, current)
	}
	snap := release.ObservedToSnapshot(release.ObserveRelease(current))
	hooks := map[string]*v2.TestHookStatus{"t": {Phase: "Succeeded"}}
	obj.Spec.Test = &v2.Test{Enable: c[11] > 0}
	install, upgrade := &v2.InstallRemediation{}, &v2.UpgradeRemediation{}
	switch c[11] {
	case 2:
		snap.SetTestHooks(hooks)
	case 3, 4, 5:
		hooks["t"].Phase = "Failed"
		snap.SetTestHooks(hooks)
		obj.Spec.Test.IgnoreFailures = c[11] == 4
		if yes := true; c[11] == 5 {
			install.IgnoreTestFailures, upgrade.IgnoreTestFailures = &yes, &yes
		}
	case 6:
		snap.SetTestHooks(map[string]*v2.TestHookStatus{})
	case 7:
		hooks["t"].Phase = "Running"
		snap.SetTestHooks(hooks)
	}
	switch c[1] {
	case 1:
		obj.Status.History = v2.Snapshots{snap}
	case 2:
		snap.Digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
		obj.Status.History = v2.Snapshots{snap}
	case 3:
		snap.APIVersion, snap.Digest = "", "nonsense"
		obj.Status.History = v2.Snapshots{snap}
	case 4:
		snap.Digest = "nonsense"
		obj.Status.History = v2.Snapshots{snap}
	}
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{Name: "app", Version: []string{"1.0.0", "1.1.0"}[c[2]], APIVersion: "v2"}}
	values := common.Values{"a": []string{"b", "c"}[c[3]]}
	switch c[4] {
	case 1:
		obj.Status.ObservedGeneration = 1
	case 2:
		obj.Status.ObservedGeneration = 1
		obj.Spec.PostRenderers = []v2.PostRenderer{{}}
	case 3:
		obj.Status.ObservedGeneration = 1
		obj.Spec.CommonMetadata = &v2.CommonMetadata{Labels: map[string]string{"a": "b"}}
	}
	obj.Status.LastAttemptedReleaseAction = []v2.ReleaseAction{"", v2.ReleaseActionInstall, v2.ReleaseActionUpgrade}[c[5]]
	obj.Status.InstallFailures, obj.Status.UpgradeFailures = int64(c[6]), int64(c[6])
	retries := []int{0, 1, -1}[c[7]]
	install.Retries, upgrade.Retries = retries, retries
	if yes, no := true, false; c[8] == 1 {
		install.RemediateLastFailure, upgrade.RemediateLastFailure = &yes, &yes
	} else if c[8] == 2 {
		install.RemediateLastFailure, upgrade.RemediateLastFailure = &no, &no
	}
	if strategy := v2.UninstallRemediationStrategy; c[9] == 1 {
		upgrade.Strategy = &strategy
	}
	obj.Spec.Install = &v2.Install{Remediation: install}
	obj.Spec.Upgrade = &v2.Upgrade{Remediation: upgrade}
	if c[10] == 1 {
		obj.Spec.Install.Strategy = &v2.InstallStrategy{Name: "RetryOnFailure"}
		obj.Spec.Upgrade.Strategy = &v2.UpgradeStrategy{Name: "RetryOnFailure"}
	}
	if c[12] == 1 {
		obj.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now", meta.ForceRequestAnnotation: "now"}
	}
	if previous := build(1, "superseded", "previous"); c[13] > 0 && c[1] > 0 {
		if c[13] == 4 {
			previous.Info.Status = "failed"
		}
		snap := release.ObservedToSnapshot(release.ObserveRelease(previous))
		if c[13] == 5 {
			snap.SetTestHooks(map[string]*v2.TestHookStatus{"t": {Phase: "Failed"}})
		}
		obj.Status.History = append(obj.Status.History, snap)
		if c[13] == 3 {
			previous.Manifest = "changed"
		}
		if c[13] != 2 && c[0] > 0 {
			stored = append(stored, previous)
		}
	}
	cfg, err := action.NewConfigFactory(&kube.MemoryRESTClientGetter{}, action.WithStorage(helmdriver.MemoryDriverName, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	store := helmstorage.Init(cfg.Driver)
	for _, rls := range stored {
		if err := store.Create(rls); err != nil {
			t.Fatal(err)
		}
	}
	req := &Request{Object: obj, Chart: chart, Values: values}
	state, err := DetermineReleaseState(context.TODO(), cfg, req, nil)
	if err != nil {
		return fmt.Sprintf("%s|%s|error|%s|", state.Status, state.Reason, err)
	}
	r := &AtomicRelease{configFactory: cfg, eventRecorder: record.NewFakeRecorder(10), defaultToRetryOnFailure: c[10] == 2}
	next, err := r.actionForState(context.TODO(), req, state)
	name, problem := "none", ""
	if err != nil {
		name, problem = "error", err.Error()
	} else if next != nil {
		name = next.Name()
		if _, remediation := next.(*UninstallRemediation); remediation {
			name = "uninstall-remediation"
		}
	}
	var versions []string
	for _, s := range obj.Status.History {
		versions = append(versions, fmt.Sprint(s.Version))
	}
	return fmt.Sprintf("%s|%s|%s|%s|%s", state.Status, state.Reason, name, problem, strings.Join(versions, ","))
}

func TestGoldenDecisions(t *testing.T) {
	random := rand.New(rand.NewSource(8))
	var lines strings.Builder
	seen := map[string]bool{}
	for len(seen) < 4000 {
		c := make([]int, len(choices))
		for i, n := range choices {
			c[i] = random.Intn(n)
		}
		// Most cases have a release that is deployed or failed and was made by us: there the most is to be decided.
		if len(seen)%4 != 0 {
			c[0], c[1] = 1+random.Intn(2), 1+2*random.Intn(2)
		}
		if len(seen)%4 > 1 {
			c[2], c[3], c[5], c[6], c[10], c[12] = 0, 0, 1+random.Intn(2), 1+random.Intn(2), 0, 0
		}
		key := fmt.Sprint(c)
		if seen[key] {
			continue
		}
		seen[key] = true
		fmt.Fprintf(&lines, "%s|%s\n", strings.Trim(strings.ReplaceAll(key, " ", ""), "[]"), decide(t, c))
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("GOLDEN"), "decisions.txt"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
