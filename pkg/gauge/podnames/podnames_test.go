package podnames

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	uid    = "6f1b2a44-93a2-4ccd-8f06-0f3f4d1a5d7e"
	static = "0123456789abcdef0123456789abcdef" // of a pod from a file of the node
)

// folder makes a folder of logs with pods' folders in it.
func folder(t *testing.T, pods ...string) string {
	t.Helper()
	dir := t.TempDir()
	add(t, dir, pods...)
	return dir
}

func add(t *testing.T, dir string, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		if err := os.Mkdir(filepath.Join(dir, pod), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func want(t *testing.T, of func(string) (string, string), uid, namespace, name string) {
	t.Helper()
	if gotNamespace, gotName := of(uid); gotNamespace != namespace || gotName != name {
		t.Errorf("%s is %q of %q, want %q of %q", uid, gotName, gotNamespace, name, namespace)
	}
}

func TestAPodIsNamedByItsFolder(t *testing.T) {
	t.Parallel()
	of := At(folder(t, "shop_cart-7d9f.blue_"+uid, "kube-system_etcd-node-1_"+static)).ForInterval()
	want(t, of, uid, "shop", "cart-7d9f.blue")
	want(t, of, static, "kube-system", "etcd-node-1")
}

func TestWhatNoKubeletMadeIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"shop_" + uid, "shop_cart_extra_" + uid, "_cart_" + uid, "shop__" + uid, "Shop_cart_" + uid, "shop_Cart_" + uid, "sh.op_cart_" + uid,
		"shop_cart\n_" + uid, "shop_cart_" + strings.ReplaceAll(uid, "-", "."), "shop_cart_", "shop_cart_" + strings.Repeat("a", 65), "lost+found",
	} {
		if uid, found, ok := parse(name); ok {
			t.Errorf("%q is taken for %+v with the UID %q", name, found, uid)
		}
	}
}

func TestTheFolderIsListedForAnUnknownPodAndOnceInAnInterval(t *testing.T) {
	t.Parallel()
	dir := folder(t, "shop_cart_"+uid)
	f := At(dir)
	first := f.ForInterval()
	want(t, first, uid, "shop", "cart")
	add(t, dir, "shop_till_"+static)
	want(t, first, static, "", "")

	second := f.ForInterval()
	want(t, second, static, "shop", "till")
	if err := os.Remove(filepath.Join(dir, "shop_cart_"+uid)); err != nil {
		t.Fatal(err)
	}
	want(t, f.ForInterval(), uid, "shop", "cart") // it is known: nothing is listed
	want(t, f.ForInterval(), "abc", "", "")
	want(t, f.ForInterval(), uid, "", "")
}

func TestAFolderThatCannotBeListedIsAnErrorAndKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pods")
	f := At(dir)
	want(t, f.ForInterval(), uid, "", "")
	if err := f.Err(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error %v does not name the folder", err)
	}
	add(t, filepath.Dir(dir), "pods")
	want(t, f.ForInterval(), uid, "", "")
	if err := f.Err(); err != nil {
		t.Errorf("an empty folder is an error: %v", err)
	}
	add(t, dir, "shop_cart_"+uid)
	want(t, f.ForInterval(), uid, "shop", "cart")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	of := f.ForInterval()
	want(t, of, "abc", "", "")
	want(t, of, uid, "shop", "cart")
	if f.Err() == nil {
		t.Error("a folder that is gone is no error")
	}
}

func TestEveryNameOfTheKubeletIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		namespace := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?`).Draw(t, "namespace")
		name := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,9}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,9}[a-z0-9])?){0,3}`).Draw(t, "name")
		uid := rapid.StringMatching(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}`).Draw(t, "uid")
		got, found, ok := parse(namespace + "_" + name + "_" + uid)
		if !ok || got != uid || found != (pod{namespace, name}) {
			t.Fatalf("read back as %+v with the UID %q: %v", found, got, ok)
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add("shop_cart_" + uid)
	f.Add("__")
	f.Fuzz(func(t *testing.T, folder string) {
		if uid, found, ok := parse(folder); ok && found.namespace+"_"+found.name+"_"+uid != folder {
			t.Errorf("%q is taken for %+v with the UID %q", folder, found, uid)
		}
	})
}
