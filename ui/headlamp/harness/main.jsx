// Headlamp's own frontend, as far as the package @kinvolk/headlamp-plugin has it, with the plugin as it is built. It shows a page of a
// cluster, such as /c/example/loadline, in the theme that ?theme=dark or ?theme=light names.
import '@kinvolk/headlamp-plugin/lib/plugin/index.js';
import '@kinvolk/headlamp-plugin/lib/i18n/config.js';
import defaultThemes from '@kinvolk/headlamp-plugin/lib/components/App/defaultAppThemes.js';
import RouteSwitcher from '@kinvolk/headlamp-plugin/lib/components/App/RouteSwitcher.js';
import Sidebar from '@kinvolk/headlamp-plugin/lib/components/Sidebar/Sidebar.js';
import { createMuiTheme } from '@kinvolk/headlamp-plugin/lib/lib/themes.js';
import { setConfig } from '@kinvolk/headlamp-plugin/lib/redux/configSlice.js';
import store from '@kinvolk/headlamp-plugin/lib/redux/stores/store.js';
import Box from '@mui/material/Box';
import CssBaseline from '@mui/material/CssBaseline';
import { ThemeProvider } from '@mui/material/styles';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { SnackbarProvider } from 'notistack';
import { createRoot } from 'react-dom/client';
import { Provider } from 'react-redux';
import { BrowserRouter } from 'react-router-dom';

const name = new URLSearchParams(window.location.search).get('theme') ?? 'light';
const theme = createMuiTheme(defaultThemes.find(t => t.name.toLowerCase() === name));

store.dispatch(setConfig({ clusters: { example: { name: 'example', auth_type: '' } } }));

function Frontend() {
  return (
    <Provider store={store}>
      <ThemeProvider theme={theme}>
        <CssBaseline />
        <QueryClientProvider client={new QueryClient()}>
          <SnackbarProvider>
            <BrowserRouter>
              <Box sx={{ display: 'flex' }}>
                <Sidebar />
                <Box component="main" sx={{ flexGrow: 1, minWidth: 0, p: { xs: 1, sm: 2 } }}>
                  <RouteSwitcher requiresToken={() => false} />
                </Box>
              </Box>
            </BrowserRouter>
          </SnackbarProvider>
        </QueryClientProvider>
      </ThemeProvider>
    </Provider>
  );
}

const plugin = document.createElement('script');
plugin.src = '/plugin/main.js';
plugin.onload = () => createRoot(document.getElementById('root')).render(<Frontend />);
document.head.append(plugin);
